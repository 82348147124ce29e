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

    /// The sentence.
    package var message: String { advice.map { "\(failure); \($0)" } ?? failure }

    /// The same error, with this advice if it has none.
    package func advising(_ advice: String) -> OperatorError {
        var error = self
        error.advice = self.advice ?? advice
        return error
    }
}
