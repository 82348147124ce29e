package import JSON

/// Where a task stands in the order that its person chose: a finite number.
///
/// A task without a position stands at its id, so 2.5 is between the tasks 2 and 3. Clients sort by it; the server keeps the
/// order of ids.
package struct TaskPosition: Hashable, Sendable {
    package let value: Double

    /// The greatest position; its negative is the least.
    ///
    /// Up to there every reader of JSON takes whole numbers exactly.
    package static let greatest: Double = 9_007_199_254_740_992

    /// Nil for what is not finite or too far from 0; -0 is 0.
    package init?(_ value: Double) {
        guard value.isFinite, abs(value) <= Self.greatest else { return nil }
        self.value = value == 0 ? 0 : value
    }

    /// The number of a JSON value; nil for every other value, and for an integer that a `Double` would round to the limit.
    package init?(json value: JSONValue) {
        switch value {
        case .integer(let number):
            guard let number = Double(exactly: number) else { return nil }
            self.init(number)
        case .real(let number): self.init(number)
        case .null, .boolean, .string, .array, .object: return nil
        }
    }

    /// The number as JSON has it (RFC 8259 section 6), in the shortest form that is read as the same.
    package var text: String {
        value == value.rounded() ? String(Int64(value)) : value.description
    }
}
