import Basics
import PostgreSQL
import StoreEngine
import Tasks

/// Reads that are sent together, with one point of synchronization after them.
struct ReadBatch {
    let statements: [BoundStatement]
    private var error: PostgreSQLError?
    private let jobs: [Job]
    private let reads: [PostgreSQLRead]
    /// What becomes of the first jobs, as far as that is known.
    private var verdicts: [(job: Job, verdict: Verdict)] = []

    init(_ jobs: [Job]) {
        self.jobs = jobs.filter { $0.work is PostgreSQLRead }
        reads = jobs.compactMap { $0.work as? PostgreSQLRead }
        statements = reads.map(\.statement)
    }

    mutating func receive(_ rows: borrowing Rows, at index: Int) {
        let job = jobs[index]
        // A read that needs no other one has answered its callers now.
        let next = reads[index].receive(rows)
        verdicts.append((job, next.map { .again(job.again(job.retry, $0)) } ?? .answer {}))
    }

    mutating func fail(_ error: PostgreSQLError, at index: Int) {
        self.error = error
        let job = jobs[index]
        // A read is repeated within the deadline of its request, so its tries are fewer than those of a write.
        let retry = error.isPassing ? job.retry.nextTry(atMost: 5) : nil
        verdicts.append((job, retry.map { .again(job.again($0)) } ?? .refuse(StoreError(error))))
        // Those after it were not run.
        verdicts += jobs[(index + 1)...].map { ($0, .again($0)) }
    }

    func result() -> BatchResult {
        var result = BatchResult(verdicts)
        result.report = error?.report
        return result
    }

    func lost(_ loss: PostgreSQLError) -> BatchResult {
        BatchResult(verdicts + jobs[verdicts.count...].map { ($0, .again($0)) }).lost(SessionLoss(loss.description))
    }
}

/// A statement that reads one owner's tasks, and what to do with its rows.
final class PostgreSQLRead: JobWork {
    let statement: BoundStatement
    /// Answers the caller by the rows, or returns the read that must follow before the answer.
    let receive: @Sendable (borrowing Rows) -> PostgreSQLRead?

    /// A read whose rows are the whole outcome.
    private convenience init<Outcome: Sendable>(
        _ statement: BoundStatement, _ answer: @escaping @Sendable (Result<Outcome, StoreError>) -> Void,
        _ decode: @escaping @Sendable (borrowing Rows) throws(StoreError) -> Outcome
    ) {
        self.init(statement: statement) { rows in
            answer(Result { () throws(StoreError) in try decode(rows) })
            return nil
        }
    }

    init(statement: BoundStatement, _ receive: @escaping @Sendable (borrowing Rows) -> PostgreSQLRead?) {
        self.statement = statement
        self.receive = receive
    }

    static func find(_ query: FindTask, _ reply: Reply<TaskItem?>) -> PostgreSQLRead {
        let owner = query.owner
        return PostgreSQLRead(BoundStatement(.find, of: owner, [.integer(query.id)]), { reply.answer($0) }) {
            rows throws(StoreError) in
            rows.count > 0 ? try item(in: rows, 0, of: owner) : nil
        }
    }

    /// Reads as many tasks of a selection as fit in an answer.
    ///
    /// If there are more rows or longer details than the first statement gives, a second one asks for the bytes of a page.
    static func list(_ list: SharedList, in answers: AnswerMemory) -> PostgreSQLRead {
        let (rows, query, selection) = (TaskStatement.firstRows, list.query, list.query.selection)
        let statement = BoundStatement(.page, of: query.owner, parameters(of: selection, rows: rows))
        let short = PostgreSQLRead(statement, list.answer) { found throws(StoreError) in
            try page(found, query, in: answers)
        }
        return PostgreSQLRead(statement: statement) { found in
            let isCut = found.count == rows && selection.limit.map { $0 >= rows } ?? true
            return isCut || lacksDetails(found) ? longList(list, in: answers) : short.receive(found)
        }
    }

    private static func item(
        in rows: borrowing Rows, _ row: Int, from first: Int = 0, of owner: Owner
    ) throws(StoreError) -> TaskItem {
        try rethrowing(as: StoreError.init) { () throws(ForeignValue) in
            try TaskColumns.item(in: rows, row, from: first, of: owner)
        }
    }

    static func changes(
        _ query: ListChanges, in answers: AnswerMemory, _ reply: Reply<ChangesOutcome>
    ) -> PostgreSQLRead {
        let (kind, place): (TaskStatement, Int64) =
            switch query.rows {
            case .tasks(let id): (.firstChanges, id)
            case .changes(let number): (.laterChanges, number)
            }
        // One row more than wanted shows whether others follow.
        let limits = [
            Parameter.integer(place), .integer(Int64(query.limit) + 1), .integer(Int64(longBytes(in: answers))),
        ]
        let statement = BoundStatement(kind, of: query.owner, limits)
        return PostgreSQLRead(statement, { reply.answer($0) }) { rows throws(StoreError) in
            let counts =
                rows.count > 0
                ? ChangeCounts(origin: rows.integer(0, 0), last: rows.integer(0, 1), forgotten: rows.integer(0, 2))
                : nil
            guard var rendering = ChangesRendering(query, at: counts, in: answers) else { return .forgotten }
            // Without changes, the row of the counts has no place.
            for row in 0..<rows.count where !rows.isNull(row, 3) {
                let hasRoom =
                    rows.isNull(row, 4)
                    ? rendering.append(try item(in: rows, row, from: 5, of: query.owner), at: rows.integer(row, 3))
                    : rendering.append(removed: rows.integer(row, 4), at: rows.integer(row, 3))
                guard hasRoom else { break }
            }
            return try rendering.outcome().get()
        }
    }

    static func changeNumbers(of owners: [Owner], _ reply: Reply<[Owner: Int64]>) -> PostgreSQLRead {
        let statement = BoundStatement(.changeNumbers, [.texts(owners.map(\.identifier))])
        return PostgreSQLRead(statement, { reply.answer($0) }) { rows in
            let numbers = (0..<rows.count).map { (Owner(rows.text($0, 0)), rows.integer($0, 1)) }
            return Dictionary(numbers) { number, _ in number }
        }
    }

    private static func lacksDetails(_ rows: borrowing Rows) -> Bool {
        for row in 0..<rows.count where TaskColumns.lacksDetail(rows, row) { return true }
        return false
    }

    private static func longList(_ list: SharedList, in answers: AnswerMemory) -> PostgreSQLRead {
        let query = list.query
        let bytes = longBytes(in: answers)
        let rows = bytes / TaskStatement.leastRendered + 2
        let statement = BoundStatement(
            .longPage, of: query.owner, parameters(of: query.selection, rows: rows) + [.integer(Int64(bytes))])
        return PostgreSQLRead(statement, list.answer) { found throws(StoreError) in
            try page(found, query, in: answers)
        }
    }

    /// The bytes of a page, of the task that fills it, and of one more task that shows that others follow.
    private static func longBytes(in answers: AnswerMemory) -> Int {
        let details = TaskDetail.allCases.compactMap(\.kind.longestText).reduce(0, +)
        return answers.pageSize + 2 * TaskText.longest + details + 2 * TaskStatement.leastRendered
    }

    private static func parameters(of selection: TaskQuery, rows: Int) -> [Parameter] {
        // One task more than wanted shows whether others follow.
        let limit = min(max(selection.limit ?? rows, 0), rows - 1) + 1
        // A whole list begins with the least number, so that an id that no server gives is noticed.
        let first = selection.after.map { min($0, .max - 1) + 1 } ?? .min
        return [.integer(first), .boolean(selection.completed), .integer(Int64(limit))]
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
