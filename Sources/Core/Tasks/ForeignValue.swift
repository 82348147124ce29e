import Basics
import JSON

/// A value in a database that task-server does not write: another program has written it, or it is damaged.
///
/// An import refuses the same values, so that everything that is stored can be exported, and imported again.
package struct ForeignValue: Error, Sendable, Equatable {
    /// What is wrong, for a person; never the value itself.
    package let message: String

    fileprivate init(_ kind: String, table: String = "tasks", _ reason: String = "") {
        message = "a \(kind) in the table of \(table) is not one that task-server writes\(reason)"
    }

    package static let number = ForeignValue("number")
    static let key = ForeignValue("row", table: "idempotency keys")
    fileprivate static let owner = ForeignValue("name", table: "owners")
    fileprivate static let count = ForeignValue("number", table: "owners")
    /// No id is left after those that an owner has given.
    package static let lastID = ForeignValue("next id", table: "owners", ": it would be beyond the greatest")
}

extension Int64 {
    /// The greatest id and the greatest revision: every reader of JSON takes whole numbers up to this one exactly.
    package static let greatestTaskNumber: Int64 = (1 << 53) - 1

    /// Whether this can be the id of a task, or a revision.
    package var isTaskNumber: Bool { (1...Self.greatestTaskNumber).contains(self) }

    /// Whether this can be the next id of an owner, which is beyond the greatest id once that id is given.
    package var isNextID: Bool { (1...Self.greatestTaskNumber + 1).contains(self) }

    /// The revision after this one; the first revision follows the greatest.
    package var nextRevision: Int64 { self % Self.greatestTaskNumber + 1 }

    /// Whether a server can show this time, in milliseconds since 1970, without changing it.
    var isTime: Bool { Timestamp(milliseconds: self).milliseconds == self }
}

extension Owner {
    /// The most bytes of an owner: a claim has up to 256 bytes (V-57), and the namespace before it has up to 17.
    package static let longest = 256 + 17

    /// The owner of this name, if a token can name it.
    package init?(checked name: String) {
        guard (1...Self.longest).contains(name.utf8.count), !name.hasControlCharacter else { return nil }
        self.init(name)
    }

    /// An owner that was stored.
    package init(stored name: String) throws(ForeignValue) {
        guard let owner = Owner(checked: name) else { throw .owner }
        self = owner
    }
}

/// What a database counts for an owner, in the table `owners`.
package struct OwnerCounts: Sendable, Equatable {
    /// The next id.
    package let next: Int64
    /// How many tasks the owner has.
    package let tasks: Int64

    /// Counts that were stored; their sums over many owners fit into 64 bits.
    package init(storedNext next: Int64, tasks: Int64) throws(ForeignValue) {
        guard next.isNextID, (0...Int64(Int32.max)).contains(tasks) else { throw .count }
        (self.next, self.tasks) = (next, tasks)
    }
}

extension TaskText {
    /// A text that was stored.
    init(stored value: JSONValue) throws(ForeignValue) {
        self = try rethrowing(as: { ForeignValue("text", ": \($0)") }) { () throws(TaskText.Failure) in
            try TaskText(value.string ?? "")
        }
    }
}

extension TaskDetails {
    /// Details that were stored: `value` gives what the column of each has.
    init(stored value: (TaskDetail) -> JSONValue) throws(ForeignValue) {
        self.init()
        for detail in TaskDetail.allCases {
            let stored = value(detail)
            if stored == .null || stored == false { continue }
            guard let checked = detail.kind.checked(stored) else { throw ForeignValue("value of \(detail.name)") }
            self[detail] = checked
        }
    }
}
