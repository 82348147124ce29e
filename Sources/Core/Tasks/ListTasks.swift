/// Reads the owner's tasks of a selection, rendered as the API shows them.
///
/// A long list is cut at a number of bytes (``AnswerMemory/pageSize``), between two tasks; ``TaskList/next`` says so.
package struct ListTasks: Sendable, Hashable {
    package let owner: Owner
    package let selection: TaskQuery
    /// The place of a long list, if the caller has waited for one.
    package let place: AnswerPlace?
    package let names: TaskNames

    package init(
        owner: Owner, selection: TaskQuery = .all, at place: AnswerPlace? = nil, names: TaskNames = .both
    ) {
        (self.owner, self.selection, self.place, self.names) = (owner, selection, place, names)
    }
}

/// Reads the owner's task of an id; the outcome is nil if there is none.
package struct FindTask: Sendable {
    package let owner: Owner
    package let id: Int64

    package init(owner: Owner, id: Int64) {
        self.owner = owner
        self.id = id
    }
}

package struct TaskQuery: Sendable, Hashable {
    /// Only completed tasks, only open ones, or (nil) both.
    package var completed: Bool?
    /// The most tasks; nil: as many as one answer may hold.
    package var limit: Int?
    /// Only tasks with a greater id.
    package var after: Int64?

    package init(completed: Bool? = nil, limit: Int? = nil, after: Int64? = nil) {
        self.completed = completed
        self.limit = limit
        self.after = after
    }

    package static let all = TaskQuery()
}
