import PostgreSQL
import Tasks

/// One statement that reads, for all who asked the same before it went out.
final class ReadStep {
    let call: TaskCall
    private(set) var requests: [ReadRequest]
    /// The first of them waits since this monotonic time.
    let since: UInt64
    var tries = 0

    init(_ request: ReadRequest, since: UInt64) {
        requests = [request]
        self.since = since
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

    /// Also those who have their answer: they are counted as answered when the unit ends.
    var callers: Int { steps.reduce(0) { $0 + $1.requests.count } }

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
        case .locked, .disconnected, .full, .exhausted, .readOnly, .forbidden, .cancelled, .other: break
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
