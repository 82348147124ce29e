import Basics
import PostgreSQL
import Tasks

/// A read of one owner's tasks: the statement, and what its rows mean.
///
/// A new kind of read defines nothing else. ``QueuedRead`` and ``ReadQueue`` do the rest for every kind: owners take
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
    /// The task of this id, if there is one.
    static func find(_ id: Int64, of owner: Owner) -> ReadOperation {
        ReadOperation(statement: Statement(.find, of: owner, [.integer(id)])) { rows throws(StoreError) in
            .done(rows.count > 0 ? try item(in: rows, 0, of: owner) : nil)
        }
    }
}

extension ReadOperation where Outcome == TaskList {
    /// The tasks of a selection, as many as fit in an answer.
    ///
    /// If there may be more rows than the first statement gives, or notes are too long for it, a second one asks for as many
    /// bytes as are needed.
    static func list(_ query: TaskQuery, of owner: Owner, in answers: AnswerMemory) -> ReadOperation {
        let rows = TaskStatement.firstRows
        let statement =
            query == .all
            ? Statement(.list, of: owner) : Statement(.page, of: owner, selection(query, rows: rows))
        return ReadOperation(statement: statement) { found throws(StoreError) in
            let isCut = found.count == rows && query.limit.map { $0 >= rows } ?? true
            if isCut || lacksNotes(found) { return .followedBy(longList(query, of: owner, in: answers)) }
            return .done(try page(found, query, of: owner, in: answers))
        }
    }

    private static func lacksNotes(_ rows: borrowing Rows) -> Bool {
        for row in 0..<rows.count where TaskColumns.lacksNotes(rows, row) { return true }
        return false
    }

    private static func longList(_ query: TaskQuery, of owner: Owner, in answers: AnswerMemory) -> ReadOperation {
        // The task that fills the page, and one after it that shows that others follow.
        let bytes =
            answers.pageSize + 2 * TaskText.longest + TaskNotes.longest + 2 * TaskStatement.leastRendered
        let parameters = selection(query, rows: bytes / TaskStatement.leastRendered + 2) + [.integer(Int64(bytes))]
        let statement = Statement(.longPage, of: owner, parameters)
        return ReadOperation(statement: statement) { found throws(StoreError) in
            .done(try page(found, query, of: owner, in: answers))
        }
    }

    private static func selection(_ query: TaskQuery, rows: Int) -> [Parameter] {
        // One more than wanted shows whether others follow.
        let limit = min(max(query.limit ?? rows, 0), rows - 1) + 1
        return [.integer(query.after ?? 0), .boolean(query.completed), .integer(Int64(limit))]
    }

    private static func page(
        _ rows: borrowing Rows, _ query: TaskQuery, of owner: Owner, in answers: AnswerMemory
    ) throws(StoreError) -> TaskList {
        var page = TaskPage(of: owner, atMost: query.limit, in: answers)
        for row in 0..<rows.count {
            guard try page.append(try item(in: rows, row, of: owner)) else { break }
        }
        return page.list()
    }
}
