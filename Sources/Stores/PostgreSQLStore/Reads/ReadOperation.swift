import Basics
import PostgreSQL
import Tasks

/// A read of one owner's tasks: the statement, and what its rows mean.
///
/// A new kind of read defines nothing else. ``QueuedRead`` and ``LaneOrder`` do the rest for every kind: owners take
/// turns, and a read that waits too long or fails is refused.
struct ReadOperation<Outcome: Sendable>: Sendable {
    /// What the rows came to.
    enum Step {
        case done(Outcome)
        /// They are not all: this operation brings the outcome.
        case followedBy(ReadOperation)
    }

    let statement: Statement
    let decode: @Sendable (borrowing Rows) throws(StoreError) -> Step

    /// The task in a row.
    private static func item(in rows: borrowing Rows, _ row: Int, of owner: Owner) throws(StoreError) -> TaskItem {
        try rethrowing(as: StoreError.init) { () throws(ForeignValue) in
            try TaskColumns.item(in: rows, row, of: owner)
        }
    }
}

extension ReadOperation where Outcome == TaskItem? {
    static func find(_ query: FindTask) -> ReadOperation {
        let owner = query.owner
        return ReadOperation(statement: Statement(.find, of: owner, [.integer(query.id)])) { rows throws(StoreError) in
            .done(rows.count > 0 ? try item(in: rows, 0, of: owner) : nil)
        }
    }
}

extension ReadOperation where Outcome == TaskList {
    /// Reads as many tasks of a selection as fit in an answer.
    ///
    /// If there may be more rows than the first statement gives, or details are too long for it, a second one asks for as many
    /// bytes as are needed.
    static func list(_ query: ListTasks, in answers: AnswerMemory) -> ReadOperation {
        let (rows, selection) = (TaskStatement.firstRows, query.selection)
        let statement =
            selection == .all
            ? Statement(.list, of: query.owner)
            : Statement(.page, of: query.owner, parameters(of: selection, rows: rows))
        return ReadOperation(statement: statement) { found throws(StoreError) in
            let isCut = found.count == rows && selection.limit.map { $0 >= rows } ?? true
            if isCut || lacksDetails(found) { return .followedBy(longList(query, in: answers)) }
            return .done(try page(found, query, in: answers))
        }
    }

    private static func lacksDetails(_ rows: borrowing Rows) -> Bool {
        for row in 0..<rows.count where TaskColumns.lacksDetail(rows, row) { return true }
        return false
    }

    private static func longList(_ query: ListTasks, in answers: AnswerMemory) -> ReadOperation {
        // The task that fills the page, and one after it that shows that others follow.
        let details = TaskDetail.allCases.compactMap(\.kind.longestText).reduce(0, +)
        let bytes = answers.pageSize + 2 * TaskText.longest + details + 2 * TaskStatement.leastRendered
        let rows = bytes / TaskStatement.leastRendered + 2
        let statement = Statement(
            .longPage, of: query.owner, parameters(of: query.selection, rows: rows) + [.integer(Int64(bytes))])
        return ReadOperation(statement: statement) { found throws(StoreError) in
            .done(try page(found, query, in: answers))
        }
    }

    private static func parameters(of selection: TaskQuery, rows: Int) -> [Parameter] {
        // One more than wanted shows whether others follow.
        let limit = min(max(selection.limit ?? rows, 0), rows - 1) + 1
        return [.integer(selection.after ?? 0), .boolean(selection.completed), .integer(Int64(limit))]
    }

    private static func page(
        _ rows: borrowing Rows, _ query: ListTasks, in answers: AnswerMemory
    ) throws(StoreError) -> TaskList {
        var page = TaskPage(of: query.owner, atMost: query.selection.limit, in: answers)
        for row in 0..<rows.count {
            guard try page.append(try item(in: rows, row, of: query.owner)) else { break }
        }
        return page.list()
    }
}
