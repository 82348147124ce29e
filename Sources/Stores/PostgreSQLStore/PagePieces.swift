import PostgreSQL
import StoreEngine
import Tasks

/// The reads by which the callers of a list are answered.
struct ListReading: Sendable {
    fileprivate let list: SharedList
    private let cache: ListCache
    fileprivate let answers: AnswerMemory

    init(_ list: SharedList, _ cache: ListCache, in answers: AnswerMemory) {
        (self.list, self.cache, self.answers) = (list, cache, answers)
    }

    fileprivate var owner: Owner { list.query.owner }
    fileprivate var selection: TaskQuery { list.query.selection }

    /// Answers a whole list from the cache if nothing has changed, and otherwise reads and keeps the list.
    ///
    /// The point of the owner's changes is read before the list, so the list has at least the changes up to this point.
    var cached: PostgreSQLRead {
        guard cache.holdsList(of: owner) else {
            return PostgreSQLRead(BoundStatement(.listPoint, of: owner), ListPieces(self, nil).statement) {
                page(at: PostgreSQLRead.listPoint(in: $0))
            }
        }
        return PostgreSQLRead(pointOf: owner) { point in
            guard let known = cache.list(of: owner, list.query.names, at: point, in: list.query.place) else {
                return page(at: point)
            }
            list.answer(known)
            return nil
        }
    }

    /// Reads as many tasks of a selection as fit in an answer, and keeps the list if a point is given.
    func page(at point: ListPoint?) -> PostgreSQLRead { ListPieces(self, point).read }

    /// Answers all callers; no other read follows.
    fileprivate func answer(_ result: Result<TaskList, StoreError>, _ point: ListPoint?) {
        cache.countRead()
        if let point, case .success(let found) = result { cache.keep(found, of: owner, at: point) }
        list.answer(result)
    }
}

/// A page that is read piece by piece until it is full.
private protocol PagePieces: Sendable {
    /// The statement of the next rows, at most ``TaskStatement/piece``.
    var statement: BoundStatement { get }
    /// Appends the rows of a piece; returns whether the page is full, or there are no more rows.
    mutating func take(_ rows: borrowing Rows) throws(StoreError) -> Bool
    func answer(_ failure: StoreError?)
}

extension PagePieces {
    /// Reads the first piece, which is most often the whole page; if not, reads all pieces anew from one snapshot.
    fileprivate var read: PostgreSQLRead {
        PostgreSQLRead(statement) { rows in
            var page = self
            do throws(StoreError) {
                guard try page.take(rows) else {
                    return PostgreSQLRead { session throws(PostgreSQLError) in try readAll(on: session) }
                }
                page.answer(nil)
            } catch {
                page.answer(error)
            }
            return nil
        }
    }

    private func readAll(on session: PostgreSQLSession) throws(PostgreSQLError) {
        var page = self
        var failure: StoreError?
        try session.readPieces(statement) { rows in
            do throws(StoreError) {
                return try page.take(rows) ? nil : page.statement
            } catch {
                failure = error
                return nil
            }
        }
        page.answer(failure)
    }
}

/// The pieces of a list.
private struct ListPieces: PagePieces {
    private let reading: ListReading
    private let point: ListPoint?
    private var page: TaskPage

    init(_ reading: ListReading, _ point: ListPoint?) {
        (self.reading, self.point) = (reading, point)
        page = TaskPage(
            of: reading.owner, reading.list.query.names, atMost: reading.selection.limit, in: reading.answers,
            at: reading.list.query.place)
    }

    var statement: BoundStatement {
        let selection = reading.selection
        // One task more than wanted shows whether others follow.
        let limit = min(max(selection.limit ?? .max, 0), TaskStatement.piece - 1) + 1
        // A whole list begins with the least number, so that a foreign id below 1 is noticed.
        let first = (page.last ?? selection.after).map { min($0, .max - 1) + 1 } ?? .min
        return BoundStatement(
            .page, of: reading.owner, [.integer(first), .boolean(selection.completed), .integer(Int64(limit))])
    }

    mutating func take(_ rows: borrowing Rows) throws(StoreError) -> Bool {
        for row in 0..<rows.count {
            guard try page.append(try PostgreSQLRead.item(in: rows, row, of: reading.owner)) else { return true }
        }
        return rows.count < TaskStatement.piece
    }

    func answer(_ failure: StoreError?) {
        reading.answer(failure.map { .failure($0) } ?? .success(page.list()), point)
    }
}

extension PostgreSQLRead {
    static func changes(
        _ query: ListChanges, in answers: AnswerMemory, _ answer: @escaping StoreAnswer<ChangesOutcome>
    ) -> PostgreSQLRead { ChangesPieces(query, in: answers, answer).read }
}

/// The pieces of a page of changes.
private struct ChangesPieces: PagePieces {
    private let query: ListChanges
    private let answers: AnswerMemory
    private let answer: StoreAnswer<ChangesOutcome>
    /// The page so far; nil before the first piece, and if the point of the query is forgotten.
    private var page: ChangesRendering?

    init(_ query: ListChanges, in answers: AnswerMemory, _ answer: @escaping StoreAnswer<ChangesOutcome>) {
        (self.query, self.answers, self.answer) = (query, answers, answer)
    }

    var statement: BoundStatement {
        let (kind, place): (TaskStatement, Int64) =
            switch query.rows {
            case .tasks(let id): (.firstChanges, id)
            case .changes(let number): (.laterChanges, number)
            }
        // One row more than wanted shows whether others follow.
        let limit = min(query.limit, TaskStatement.piece - 1) + 1
        return BoundStatement(kind, of: query.owner, [.integer(page?.last ?? place), .integer(Int64(limit))])
    }

    mutating func take(_ rows: borrowing Rows) throws(StoreError) -> Bool {
        if page == nil { page = ChangesRendering(query, at: Self.counts(in: rows), in: answers) }
        // If nothing has changed, the only row has the counts, and NULL as its place.
        for row in 0..<rows.count where !rows.isNull(row, 3) {
            guard try append(rows, row) else { return true }
        }
        return rows.count < TaskStatement.piece
    }

    private mutating func append(_ rows: borrowing Rows, _ row: Int) throws(StoreError) -> Bool {
        let place = rows.integer(row, 3)
        guard rows.isNull(row, 4) else { return page?.append(removed: rows.integer(row, 4), at: place) ?? false }
        return page?.append(try PostgreSQLRead.item(in: rows, row, from: 5, of: query.owner), at: place) ?? false
    }

    private static func counts(in rows: borrowing Rows) -> ChangeCounts? {
        guard rows.count > 0 else { return nil }
        return ChangeCounts(origin: rows.integer(0, 0), last: rows.integer(0, 1), forgotten: rows.integer(0, 2))
    }

    func answer(_ failure: StoreError?) {
        answer(failure.map { .failure($0) } ?? page?.outcome() ?? .success(.forgotten))
    }
}
