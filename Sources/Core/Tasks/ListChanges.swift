/// Reads the tasks that were changed or removed after a point, or without a point the whole list.
///
/// The whole list is read in the order of ids. Its pages keep the change number of the first one, so whatever happens
/// to the list meanwhile is read after its last page. List and numbers are from one state of the database.
package struct ListChanges: Sendable, Hashable {
    package let owner: Owner
    package let since: ChangePoint?
    /// At most this many tasks and removed ids, at least 1; a page may have fewer (``AnswerMemory/pageSize``).
    package let limit: Int
    /// The place of a long page, if the caller has waited for one.
    package var place: AnswerPlace?
    /// The names that the tasks have.
    package let names: TaskNames

    package init(owner: Owner, since: ChangePoint?, limit: Int, names: TaskNames = .both) {
        self.owner = owner
        self.since = since == .beginning ? nil : since
        self.limit = limit
        self.names = names
    }

    /// The greatest limit.
    package static let most = 1000

    /// The rows that a store reads until the page is full.
    package enum Rows: Sendable, Equatable {
        /// The tasks with greater ids, in the order of ids.
        case tasks(after: Int64)
        /// The tasks and removed tasks with greater change numbers, in the order of these.
        case changes(after: Int64)

        /// The id or the number after which the rows begin.
        var start: Int64 {
            switch self {
            case .tasks(let place), .changes(let place): place
            }
        }
    }

    package var rows: Rows {
        guard let since else { return .tasks(after: 0) }
        return since.listed > 0 ? .tasks(after: since.listed) : .changes(after: since.number)
    }
}

package enum ChangesOutcome: Sendable, Equatable {
    case page(ChangesPage)
    /// The point is of another list, ahead of this one, or before removals that are forgotten: begin without a point.
    case forgotten
}
