import Basics
import PostgreSQL
import StoreEngine
import Tasks

/// Reads that are sent together, with one point of synchronization after them.
struct ReadBatch {
    let statements: [BoundStatement]
    private var error: PostgreSQLError?
    private let jobs: [Job]
    private var reads: [PostgreSQLRead]
    /// How many of the jobs, the first ones, share the first statement: it reads the points of their owners.
    private let shared: Int
    /// By statement: the number of the job, or of the first that shares it.
    private let places: [Int]
    /// What becomes of the first jobs, as far as that is known.
    private var verdicts: [(job: Job, verdict: Verdict)] = []

    /// Several owners may share a statement unless their tasks are on several servers, each of which may fail.
    init(_ jobs: [Job], sharesStatements: Bool = true) {
        let all = jobs.compactMap { job in (job.work as? PostgreSQLRead).map { (job: job, read: $0) } }
        let isShared = { (job: Job, read: PostgreSQLRead) in read.point != nil && job.retry.sharing == .all }
        let sharing = sharesStatements ? all.filter(isShared) : []
        shared = sharing.count > 1 ? sharing.count : 0
        let ordered = shared > 0 ? sharing + all.filter { !isShared($0.job, $0.read) } : all
        self.jobs = ordered.map(\.job)
        reads = ordered.map(\.read)
        let owners = reads.prefix(shared).compactMap { $0.point?.owner.identifier }
        let alone = reads.enumerated().dropFirst(shared)
        statements =
            (owners.isEmpty ? [] : [BoundStatement(.points, [.texts(owners)])]) + alone.flatMap(\.element.statements)
        places = (owners.isEmpty ? [] : [0]) + alone.flatMap { (place, read) in read.statements.map { _ in place } }
    }

    mutating func receive(_ rows: borrowing Rows, at index: Int) {
        guard index > 0 || shared == 0 else { return receivePoints(rows) }
        let place = places[index]
        let next = reads[place].receive(rows)
        if let next, index + 1 < places.count, places[index + 1] == place {
            // The statement of the next read was sent together with this one.
            reads[place] = next
        } else {
            settle(jobs[place], next)
        }
    }

    private mutating func receivePoints(_ rows: borrowing Rows) {
        let points = PostgreSQLRead.points(in: rows)
        for (job, read) in zip(jobs, reads).prefix(shared) {
            guard let (owner, receive) = read.point else { continue }
            settle(job, receive(points[owner] ?? .beginning))
        }
    }

    /// A read that needs no other one has answered its callers.
    private mutating func settle(_ job: Job, _ next: PostgreSQLRead?) {
        verdicts.append((job, next.map { .again(job.again(job.retry, $0)) } ?? .answer {}))
    }

    mutating func fail(_ error: PostgreSQLError, at index: Int) {
        self.error = error
        let isShared = index == 0 && shared > 0
        for job in jobs[places[index]...].prefix(isShared ? shared : 1) {
            // Each of those who shared the statement is tried alone. A read is repeated within the deadline of its
            // request, so its tries are fewer than those of a write.
            let passing = error.isPassing ? job.retry.nextTry(atMost: 5) : nil
            let retry = isShared ? job.retry.after(.oneJob, isShared: true) : passing
            verdicts.append((job, retry.map { .again(job.again($0)) } ?? .refuse(StoreError(error))))
        }
        // Those after it were not run.
        verdicts += jobs[verdicts.count...].map { ($0, .again($0)) }
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
    /// The statement, and that of the read that must follow if both are sent together.
    let statements: [BoundStatement]
    /// Answers the caller by the rows, or returns the read that must follow before the answer.
    let receive: @Sendable (borrowing Rows) -> PostgreSQLRead?
    /// If the statement only reads the point of an owner's changes: the owner, and what to do with the point.
    let point: (owner: Owner, receive: @Sendable (ListPoint) -> PostgreSQLRead?)?

    /// A read whose rows are the whole outcome.
    fileprivate convenience init<Outcome: Sendable>(
        _ statement: BoundStatement, _ answer: @escaping @Sendable (Result<Outcome, StoreError>) -> Void,
        _ decode: @escaping @Sendable (borrowing Rows) throws(StoreError) -> Outcome
    ) {
        self.init(statement) { rows in
            answer(Result { () throws(StoreError) in try decode(rows) })
            return nil
        }
    }

    init(_ statements: BoundStatement..., receive: @escaping @Sendable (borrowing Rows) -> PostgreSQLRead?) {
        self.statements = statements
        self.receive = receive
        point = nil
    }

    init(pointOf owner: Owner, receive: @escaping @Sendable (ListPoint) -> PostgreSQLRead?) {
        statements = [BoundStatement(.listPoint, of: owner)]
        self.receive = { receive(Self.listPoint(in: $0)) }
        point = (owner, receive)
    }

    fileprivate static func listPoint(in rows: borrowing Rows) -> ListPoint {
        rows.count > 0 ? listPoint(in: rows, 0, from: 0) : .beginning
    }

    private static func listPoint(in rows: borrowing Rows, _ row: Int, from first: Int) -> ListPoint {
        let changes = ChangePoint(origin: rows.integer(row, first), number: rows.integer(row, first + 1))
        return ListPoint(changes, writtenBy: rows.integer(row, first + 2))
    }

    fileprivate static func points(in rows: borrowing Rows) -> [Owner: ListPoint] {
        var points: [Owner: ListPoint] = [:]
        for row in 0..<rows.count { points[Owner(rows.text(row, 0))] = listPoint(in: rows, row, from: 1) }
        return points
    }

    static func find(_ query: FindTask, _ reply: Reply<TaskItem?>) -> PostgreSQLRead {
        let owner = query.owner
        return PostgreSQLRead(BoundStatement(.find, of: owner, [.integer(query.id)]), { reply.answer($0) }) {
            rows throws(StoreError) in
            rows.count > 0 ? try item(in: rows, 0, of: owner) : nil
        }
    }

    fileprivate static func item(
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
            // If nothing has changed, the only row has the counts, and NULL as its place.
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
        let statement = BoundStatement(.points, [.texts(owners.map(\.identifier))])
        return PostgreSQLRead(statement, { reply.answer($0) }) { points(in: $0).mapValues(\.changes.number) }
    }

    /// The bytes of a page, of the task that fills it, and of one more task that shows that others follow.
    fileprivate static func longBytes(in answers: AnswerMemory) -> Int {
        let details = TaskDetail.allCases.compactMap(\.kind.longestText).reduce(0, +)
        return answers.pageSize + 2 * TaskText.longest + details + 2 * TaskStatement.leastRendered
    }
}

/// The reads by which the callers of a list are answered.
struct ListReading: Sendable {
    private let list: SharedList
    private let cache: ListCache
    private let answers: AnswerMemory

    init(_ list: SharedList, _ cache: ListCache, in answers: AnswerMemory) {
        (self.list, self.cache, self.answers) = (list, cache, answers)
    }

    private var owner: Owner { list.query.owner }
    private var selection: TaskQuery { list.query.selection }

    /// Answers a whole list from the cache if nothing has changed, and otherwise reads and keeps the list.
    ///
    /// The point of the owner's changes is read before the list, so the list has at least the changes up to this point.
    var cached: PostgreSQLRead {
        guard cache.holdsList(of: owner) else {
            return PostgreSQLRead(BoundStatement(.listPoint, of: owner), short) {
                page(at: PostgreSQLRead.listPoint(in: $0))
            }
        }
        return PostgreSQLRead(pointOf: owner) { point in
            guard let known = cache.list(of: owner, at: point) else { return page(at: point) }
            list.answer(known)
            return nil
        }
    }

    /// Reads as many tasks of a selection as fit in an answer, and keeps the list if a point is given.
    ///
    /// If the first statement cannot give all rows or long details, a second one asks for the bytes of a page.
    func page(at point: ListPoint?) -> PostgreSQLRead {
        PostgreSQLRead(short) { rows in
            let isCut = rows.count == TaskStatement.firstRows && selection.limit.map { $0 >= rows.count } ?? true
            return isCut || Self.lacksDetails(rows) ? longPage(at: point) : answer(rows, point)
        }
    }

    private func longPage(at point: ListPoint?) -> PostgreSQLRead {
        let bytes = PostgreSQLRead.longBytes(in: answers)
        let parameters = parameters(rows: bytes / TaskStatement.leastRendered + 2) + [.integer(Int64(bytes))]
        return PostgreSQLRead(BoundStatement(.longPage, of: owner, parameters)) { answer($0, point) }
    }

    private static func lacksDetails(_ rows: borrowing Rows) -> Bool {
        for row in 0..<rows.count where TaskColumns.lacksDetail(rows, row) { return true }
        return false
    }

    private var short: BoundStatement {
        BoundStatement(.page, of: owner, parameters(rows: TaskStatement.firstRows))
    }

    private func parameters(rows: Int) -> [Parameter] {
        // One task more than wanted shows whether others follow.
        let limit = min(max(selection.limit ?? rows, 0), rows - 1) + 1
        // A whole list begins with the least number, so that an id that no server gives is noticed.
        let first = selection.after.map { min($0, .max - 1) + 1 } ?? .min
        return [.integer(first), .boolean(selection.completed), .integer(Int64(limit))]
    }

    /// Answers all callers; no other read follows.
    private func answer(_ rows: borrowing Rows, _ point: ListPoint?) -> PostgreSQLRead? {
        cache.countRead()
        do throws(StoreError) {
            let found = try rendered(rows)
            if let point { cache.keep(found, of: owner, at: point) }
            list.answer(.success(found))
        } catch {
            list.answer(.failure(error))
        }
        return nil
    }

    private func rendered(_ rows: borrowing Rows) throws(StoreError) -> TaskList {
        var page = TaskPage(of: owner, atMost: selection.limit, in: answers)
        for row in 0..<rows.count {
            guard try page.append(try PostgreSQLRead.item(in: rows, row, of: owner)) else { break }
        }
        return page.list()
    }
}
