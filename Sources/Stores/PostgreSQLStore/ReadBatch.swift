import Basics
import PostgreSQL
import StoreEngine
import Tasks

/// Reads that are sent together, with one point of synchronization after them; reads in pieces follow one by one.
struct ReadBatch {
    let statements: [BoundStatement]
    private var error: PostgreSQLError?
    private let jobs: [Job]
    private var reads: [PostgreSQLRead]
    /// The number of the first jobs that share one statement, `.points`, which comes first; 0 if none share it.
    private let sharedCount: Int
    /// For each statement the index of its read; 0 for the shared statement.
    private let readIndices: [Int]
    /// The verdicts that are known, which are those of the first jobs.
    private var verdicts: [(job: Job, verdict: Verdict)] = []

    /// Several owners may share a statement, unless their tasks are distributed.
    init(_ jobs: [Job], sharesStatements: Bool = true) {
        let all = jobs.compactMap { job in (job.work as? PostgreSQLRead).map { (job: job, read: $0) } }
        let isShared = { (job: Job, read: PostgreSQLRead) in read.point != nil && !job.retry.isAlone }
        let sharing = sharesStatements ? all.filter(isShared) : []
        sharedCount = sharing.count > 1 ? sharing.count : 0
        let alone = sharedCount > 0 ? all.filter { !isShared($0.job, $0.read) } : all
        let (sent, inPieces) = (alone.filter { $0.read.pieces == nil }, alone.filter { $0.read.pieces != nil })
        let ordered = (sharedCount > 0 ? sharing : []) + sent + inPieces
        self.jobs = ordered.map(\.job)
        reads = ordered.map(\.read)
        let owners = reads.prefix(sharedCount).compactMap { $0.point?.owner.identifier }
        let others = reads.enumerated().dropFirst(sharedCount)
        statements =
            (owners.isEmpty ? [] : [BoundStatement(.points, [.texts(owners)])]) + others.flatMap(\.element.statements)
        readIndices =
            (owners.isEmpty ? [] : [0]) + others.flatMap { (place, read) in read.statements.map { _ in place } }
    }

    mutating func receive(_ rows: borrowing Rows, at index: Int) {
        guard index > 0 || sharedCount == 0 else { return receivePoints(rows) }
        let place = readIndices[index]
        let next = reads[place].receive(rows)
        if let next, index + 1 < readIndices.count, readIndices[index + 1] == place {
            // The statement of the next read was sent together with this one.
            reads[place] = next
        } else {
            settle(jobs[place], next)
        }
    }

    private mutating func receivePoints(_ rows: borrowing Rows) {
        let points = PostgreSQLRead.points(in: rows)
        for (job, read) in zip(jobs, reads).prefix(sharedCount) {
            guard let (owner, receive) = read.point else { continue }
            settle(job, receive(points[owner] ?? .beginning))
        }
    }

    /// Notes the verdict on a read, which has answered its callers unless another read must follow.
    private mutating func settle(_ job: Job, _ next: PostgreSQLRead?) {
        verdicts.append((job, next.map { .again(job.again(job.retry, $0)) } ?? .answer {}))
    }

    /// The next read in pieces, once the statements were answered.
    var pieces: PostgreSQLRead.Pieces? { verdicts.count < reads.count ? reads[verdicts.count].pieces : nil }

    mutating func settlePieces() { settle(jobs[verdicts.count], nil) }

    /// Ends the batch by the failure of the statement at an index, or (nil) of a read in pieces.
    mutating func fail(_ error: PostgreSQLError, at index: Int? = nil) {
        self.error = error
        let isShared = index == 0 && sharedCount > 0
        for job in jobs[verdicts.count...].prefix(isShared ? sharedCount : 1) {
            // Each job that shared the statement is tried alone. A read is repeated within the deadline of its request,
            // so its tries are fewer than those of a write.
            let passing = error.isPassing ? job.retry.nextTry(atMost: 5) : nil
            let retry = isShared ? job.retry.after(.oneJob, isShared: true) : passing
            verdicts.append((job, retry.map { .again(job.again($0)) } ?? .refuse(StoreError(error))))
        }
        // The statements after the failure were not run.
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
    /// Reads in several statements, and answers the caller.
    typealias Pieces = @Sendable (PostgreSQLSession) throws(PostgreSQLError) -> Void

    /// The statement, and the statement of the read that must follow if both are sent together.
    let statements: [BoundStatement]
    /// Answers the caller by the rows, or returns the read that must follow before the answer.
    let receive: @Sendable (borrowing Rows) -> PostgreSQLRead?
    /// If the statement only reads the point of an owner's changes: the owner, and what to do with the point.
    let point: (owner: Owner, receive: @Sendable (ListPoint) -> PostgreSQLRead?)?
    /// The closure of a read that has no statements of its own, because it sends several in turn; otherwise nil.
    let pieces: Pieces?

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
        (point, pieces) = (nil, nil)
    }

    init(inPieces pieces: @escaping Pieces) {
        (statements, receive, point) = ([], { _ in nil }, nil)
        self.pieces = pieces
    }

    init(pointOf owner: Owner, receive: @escaping @Sendable (ListPoint) -> PostgreSQLRead?) {
        statements = [BoundStatement(.listPoint, of: owner)]
        self.receive = { receive(Self.listPoint(in: $0)) }
        point = (owner, receive)
        pieces = nil
    }

    static func listPoint(in rows: borrowing Rows) -> ListPoint {
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

    static func find(_ query: FindTask, _ answer: @escaping StoreAnswer<TaskItem?>) -> PostgreSQLRead {
        let owner = query.owner
        return PostgreSQLRead(BoundStatement(.find, of: owner, [.integer(query.id)]), answer) {
            rows throws(StoreError) in
            rows.count > 0 ? try item(in: rows, 0, of: owner) : nil
        }
    }

    static func item(
        in rows: borrowing Rows, _ row: Int, from first: Int = 0, of owner: Owner
    ) throws(StoreError) -> TaskItem {
        try rethrowing(as: StoreError.init) { () throws(ForeignValue) in
            try TaskColumns.item(in: rows, row, from: first, of: owner)
        }
    }

    static func changeNumbers(of owners: [Owner], _ answer: @escaping StoreAnswer<[Owner: Int64]>) -> PostgreSQLRead {
        let statement = BoundStatement(.points, [.texts(owners.map(\.identifier))])
        return PostgreSQLRead(statement, answer) { points(in: $0).mapValues(\.changes.number) }
    }
}
