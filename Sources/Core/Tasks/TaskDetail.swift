/// A detail of a task: a value that its person may add to it.
///
/// Only this list names the details. The columns and parameters of both databases, JSON, the lines of an export, the
/// digests of idempotency keys and the reading of requests follow from it. The order is that of columns and members, so
/// a new detail comes last.
package enum TaskDetail: Int, CaseIterable, Sendable {
    /// The day on which the task is due, in the time zone of its person. The server compares the day with nothing.
    case due
    case notes
    /// A task without a position stands at its id, so 2.5 is between the tasks 2 and 3. Clients sort by the position;
    /// the server keeps the order of ids.
    case position

    private var row: (name: String, digestName: String, kind: DetailKind) {
        switch self {
        case .due: ("due", "d", .date)
        case .notes: ("notes", "n", .text(longest: 10_000))
        // Every reader of JSON takes whole numbers up to this one exactly.
        case .position: ("position", "p", .number(greatest: 9_007_199_254_740_992))
        }
    }

    /// The name of the column in both databases, of the member in JSON and in exports, and of the field in forms.
    package var name: String { row.name }

    /// The text that stands for the name in the digest of an idempotency key; it never changes.
    package var digestName: String { row.digestName }

    package var kind: DetailKind { row.kind }

    /// The names of all columns, for a statement.
    package static let columns = list(\.name)

    /// Returns the given text of each detail, separated by commas, for a statement.
    package static func list(_ part: (TaskDetail) -> String) -> String { allCases.map(part).joined(separator: ", ") }
}
