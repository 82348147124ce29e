/// A change of one task among several that are made together.
package struct IdentifiedChange: Sendable, Equatable {
    package let id: Int64
    package var change: TaskChange
    /// The revision that the task must have; nil: any.
    ///
    /// No task has the revision 0, so 0 is a condition that is never met.
    package let expected: Int64?

    package init(id: Int64, change: TaskChange, expected: Int64? = nil) {
        self.id = id
        self.change = change
        self.expected = expected
    }
}

package enum ChangeAllOutcome: Sendable, Equatable {
    /// All changes were made, durably. The tasks are in the order of the changes and include those that did not differ.
    ///
    /// The tasks are missing if they are too long for one answer, or if there is no memory for it.
    case changed(TaskList?)
    /// Nothing was changed: the owner has no tasks of these ids.
    case missing([Int64])
    /// Nothing was changed: all tasks exist, and those of these ids have another revision than expected.
    case conflict([Int64])
    /// Nothing was changed: the names of a value in the change of this number, from 1, contradict each other.
    case contradiction(number: Int, TaskChange.Contradiction)
}

extension [IdentifiedChange] {
    /// Why none of the changes is made, by the revisions of the tasks that exist; nil: all can be made.
    package func refusal(atRevisions revisions: [Int64: Int64]) -> ChangeAllOutcome? {
        let missing = filter { revisions[$0.id] == nil }
        guard missing.isEmpty else { return .missing(missing.map(\.id)) }
        let conflicting = filter { $0.expected != nil && $0.expected != revisions[$0.id] }
        return conflicting.isEmpty ? nil : .conflict(conflicting.map(\.id))
    }
}
