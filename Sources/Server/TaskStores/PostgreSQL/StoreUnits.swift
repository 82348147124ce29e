import PostgreSQL
import Tasks

/// Statements that go out together and end at one point of synchronization.
///
/// Only the driving thread touches it. Outcomes come in the order of sending; ``end()`` comes behind the last, or
/// ``lose(_:)`` if the connection is lost before.
protocol StoreUnit: AnyObject {
    /// Whether it is a transaction that writes.
    var isWriting: Bool { get }
    /// Whether it wrote, and what it wrote is kept.
    var isCommitted: Bool { get }
    /// How many callers wait for it.
    var callers: Int { get }
    /// The statements in their order.
    var calls: [UnitCall] { get }
    /// A statement did its work.
    func take(_ rows: borrowing Rows, ofCall index: Int)
    /// A statement failed; those behind it were not run.
    func fail(_ error: PostgreSQLError, atCall index: Int)
    /// All outcomes are there: tells the callers.
    func end() -> UnitEnd
    /// There will be no more outcomes.
    func lose(_ error: StoreError)
}

/// A statement of a unit.
enum UnitCall {
    /// Of the table of statements.
    case task(TaskCall)
    /// Of the transaction around them.
    case transaction(TransactionStatement, [Parameter])
}

/// What is to be done behind a unit.
struct UnitEnd {
    /// To be tried again.
    var reads: [ReadStep] = []
    var writes: [QueuedWrite] = []
    /// The transaction still stands open, failed.
    var mustRollBack = false
    /// How many callers were answered.
    var answered = 0
    /// What went wrong, if something did.
    var error: PostgreSQLError?
    /// It was committed.
    var isCommitted = false
    /// It was committed, and somebody wanted to write: a probe alone shows nothing of the room on a disk.
    var hasWritten = false
}

/// One statement that reads, for all who asked the same before it went out.
final class ReadStep {
    let call: TaskCall
    private(set) var requests: [ReadRequest]
    var tries = 0

    init(_ request: ReadRequest) {
        requests = [request]
        switch request {
        case .list(.all, let owner, _): call = TaskCall(statement: .list, parameters: [.text(owner.identifier)])
        case .list(let query, let owner, _):
            // One more than wanted shows whether others follow.
            let limit = query.limit.map { Int64(min(max($0, 0), Int(Int32.max))) + 1 }
            call = TaskCall(
                statement: .page,
                parameters: [
                    .text(owner.identifier), .integer(query.after ?? 0), .boolean(query.completed), .integer(limit),
                ])
        case .find(let id, let owner, _):
            call = TaskCall(statement: .find, parameters: [.text(owner.identifier), .integer(id)])
        }
    }

    /// Lets another caller share the answer; right only before the statement went out.
    func join(_ request: ReadRequest) {
        requests.append(request)
    }

    func answer(_ rows: borrowing Rows) {
        switch requests.first {
        case .list(let query, let owner, _): answerList(rows, query, owner)
        case .find(_, let owner, let reply):
            do throws(StoreError) {
                let found = rows.count > 0 ? try TaskColumns.item(in: rows, 0, of: owner) : nil
                reply.answer(.success(found))
            } catch {
                reply.answer(.failure(error))
            }
        case nil: break
        }
    }

    private func answerList(_ rows: borrowing Rows, _ query: TaskQuery, _ owner: Owner) {
        let result: Result<TaskList, StoreError>
        do throws(StoreError) {
            let items = try TaskColumns.items(in: rows, of: owner)
            let list =
                query.limit.map { TaskList(page: items, limit: $0) } ?? TaskList(rendering: items, next: nil)
            result = .success(list)
        } catch {
            result = .failure(error)
        }
        for case .list(_, _, let reply) in requests { reply.answer(result) }
    }

    func refuse(_ error: StoreError) {
        for request in requests { request.refuse(error) }
    }
}

/// Reads that wait together, one point of synchronization behind them.
final class ReadUnit: StoreUnit {
    let isWriting = false
    let isCommitted = false
    let calls: [UnitCall]
    private let steps: [ReadStep]
    private var result = UnitEnd()
    private var next = 0

    init(_ steps: [ReadStep]) {
        self.steps = steps
        calls = steps.map { .task($0.call) }
    }

    var callers: Int { steps.dropFirst(next).reduce(0) { $0 + $1.requests.count } }

    func take(_ rows: borrowing Rows, ofCall index: Int) {
        steps[index].answer(rows)
        settle(index)
    }

    func fail(_ error: PostgreSQLError, atCall index: Int) {
        result.error = error
        let step = steps[index]
        switch error.kind {
        case .retryable, .unprepared, .transactionFailed:
            step.tries += 1
            guard step.tries > 5 else {
                // It and those behind it.
                result.reads = Array(steps[index...])
                next = steps.count
                return
            }
        case .disconnected, .full, .exhausted, .readOnly, .forbidden, .cancelled, .other: break
        }
        step.refuse(StoreError(error))
        settle(index)
        result.reads = Array(steps[(index + 1)...])
        next = steps.count
    }

    private func settle(_ index: Int) {
        result.answered += steps[index].requests.count
        next = index + 1
    }

    func end() -> UnitEnd { result }

    func lose(_ error: StoreError) {
        for step in steps.dropFirst(next) { step.refuse(error) }
        for step in result.reads { step.refuse(error) }
    }
}

/// Writes that wait together: one transaction, one commit.
final class WriteUnit: StoreUnit {
    let isWriting = true
    let calls: [UnitCall]
    private let steps: [any WriteStep]
    /// For each call, its step and its number there; nil for those of the transaction itself.
    private let places: [(step: Int, call: Int)?]
    private var broken: StoreError?
    private var failure: (error: PostgreSQLError, call: Int)?
    private(set) var isCommitted = false

    init(_ writes: [QueuedWrite], deadlineMilliseconds: Int) {
        steps = TransactionPlan(writes).steps
        var calls: [UnitCall] = [
            .transaction(.begin, []), .transaction(.guarantee, [.text(String(deadlineMilliseconds))]),
        ]
        var places: [(step: Int, call: Int)?] = [nil, nil]
        for (number, step) in steps.enumerated() {
            for (index, call) in step.calls.enumerated() {
                calls.append(.task(call))
                places.append((number, index))
            }
        }
        calls.append(.transaction(.commit, []))
        places.append(nil)
        self.calls = calls
        self.places = places
    }

    var callers: Int { steps.reduce(0) { $0 + $1.writes.count } }

    private var writes: [QueuedWrite] { steps.flatMap(\.writes) }

    func take(_ rows: borrowing Rows, ofCall index: Int) {
        if index == calls.count - 1 {
            // The server answers ROLLBACK to a COMMIT of what failed.
            isCommitted = rows.command == "COMMIT"
            return
        }
        guard let place = places[index] else { return }
        do throws(StoreError) {
            try steps[place.step].take(rows, ofCall: place.call)
        } catch {
            broken = broken ?? error
        }
    }

    func fail(_ error: PostgreSQLError, atCall index: Int) {
        failure = failure ?? (error, index)
    }

    func end() -> UnitEnd {
        guard let failure else { return isCommitted ? endWell() : endDoubtful() }
        var result = UnitEnd()
        result.error = failure.error
        // A COMMIT that failed has ended the transaction, unless its name was not known in the session.
        result.mustRollBack = failure.call < calls.count - 1 || failure.error.kind == .unprepared
        result.writes = retries(failure.error, atCall: failure.call)
        if result.writes.isEmpty {
            refuse(StoreError(failure.error))
            result.answered = callers
        }
        return result
    }

    private func endWell() -> UnitEnd {
        var result = UnitEnd()
        result.isCommitted = true
        for step in steps { result.writes += step.answer() }
        // Those to be tried again have written nothing yet.
        let wishes = writes.count { if case .touch = $0.request { false } else { true } }
        result.hasWritten = wishes > result.writes.count
        result.answered = callers - result.writes.count
        return result
    }

    private func endDoubtful() -> UnitEnd {
        refuse(.unavailable(reason: "a commit was not confirmed"))
        var result = UnitEnd()
        result.answered = callers
        return result
    }

    /// Those that may be tried again; none if all must be refused.
    private func retries(_ error: PostgreSQLError, atCall index: Int) -> [QueuedWrite] {
        // A failed COMMIT is in doubt: behind foreign partitions a part of it may be done. A serialization failure is not,
        // nor a COMMIT whose name is not known in the session.
        if index == calls.count - 1, ![.retryable, .unprepared].contains(error.kind) { return [] }
        let all = writes
        switch error.kind {
        case .retryable, .transactionFailed, .unprepared:
            guard all.allSatisfy({ $0.tries < 10 }) else { return [] }
            return all.map { write in
                var write = write
                write.tries += 1
                return write
            }
        case .cancelled, .other:
            // One of them is to blame, and only that one: each in a transaction of its own.
            guard all.count > 1 else { return [] }
            return all.map { write in
                var write = write
                write.isAlone = true
                return write
            }
        case .disconnected, .full, .exhausted, .readOnly, .forbidden: return []
        }
    }

    private func refuse(_ error: StoreError) {
        for write in writes { write.request.refuse(error) }
    }

    func lose(_ error: StoreError) {
        refuse(error)
    }
}

/// Ends a transaction that failed.
final class RollBackUnit: StoreUnit {
    let isWriting = true
    let isCommitted = false
    let callers = 0
    let calls: [UnitCall] = [.transaction(.rollBack, [])]

    func take(_ rows: borrowing Rows, ofCall index: Int) {}

    func fail(_ error: PostgreSQLError, atCall index: Int) {}

    func end() -> UnitEnd { UnitEnd() }

    func lose(_ error: StoreError) {}
}
