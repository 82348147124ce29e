/// Why a command or a start of a program ends, in a sentence for its operator.
package struct OperatorError: Error, Sendable, Equatable {
    /// What failed.
    package let failure: String
    /// What to do.
    package private(set) var advice: String?
    /// How the program ends.
    package let exitStatus: ExitStatus
    /// Whether a program that runs holds the database, so that a later attempt may succeed.
    package var isDatabaseLocked = false

    package init(_ failure: String, _ exitStatus: ExitStatus = .failure, advice: String? = nil) {
        self.failure = failure
        self.exitStatus = exitStatus
        self.advice = advice
    }

    /// A statement in an open database failed, or the database contradicts itself.
    package static func databaseFailed(_ reason: String) -> OperatorError {
        OperatorError("the database failed: \(reason)")
    }

    /// There is no room for what a database has to write.
    package static let diskFull = OperatorError("there is no room on the disk")

    package var message: String { advice.map { "\(failure); \($0)" } ?? failure }

    /// The same error, with this advice if it has none.
    package func advising(_ advice: String) -> OperatorError {
        var error = self
        error.advice = self.advice ?? advice
        return error
    }
}

/// The ways in which a program ends: 0, 1, 2, the codes of sysexits.h, or 128 and the number of a signal.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    /// Something is wrong outside of the settings: a database, a port, an authority.
    case failure = 1
    /// mock-authority probe could not find out what an API accepts.
    case unknown = 2
    /// EX_UNAVAILABLE: mock-authority cannot listen on its address, or its command token finds no authority.
    case unavailable = 69
    /// EX_CONFIG: the settings, the command line or the files that they name are wrong.
    case badSettings = 78
    case hungUp = 129
    case interrupted = 130
    case terminated = 143
}

/// Runs a body and translates its error, for a layer that has an error type of its own.
///
/// The body must name its error type: `{ () throws(SystemError) in … }`.
@inlinable package func rethrowing<Value: ~Copyable, Inner: Error, Outer: Error>(
    as translate: (Inner) -> Outer, _ body: () throws(Inner) -> Value
) throws(Outer) -> Value {
    do { return try body() } catch { throw translate(error) }
}
