import PostgreSQL
import Tasks

/// One statement that reads, for all who asked the same before it went out.
final class ReadStep {
    private(set) var call: TaskCall
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
            call = TaskCall(
                statement: .page, parameters: Self.selection(query, owner, rows: TaskStatement.firstRows))
        case .find(let id, let owner, _):
            call = TaskCall(statement: .find, parameters: [.text(owner.identifier), .integer(id)])
        }
    }

    private static func selection(_ query: TaskQuery, _ owner: Owner, rows: Int) -> [Parameter] {
        // One more than wanted shows whether others follow.
        let limit = min(max(query.limit ?? rows, 0), rows - 1) + 1
        return [
            .text(owner.identifier), .integer(query.after ?? 0), .boolean(query.completed), .integer(Int64(limit)),
        ]
    }

    /// Lets another caller share the answer; right only before the statement went out.
    func join(_ request: ReadRequest) {
        requests.append(request)
    }

    /// Answers, unless the list may have more rows than these: then it is to be sent again, and asks for all it needs.
    func answer(_ rows: borrowing Rows, in answers: AnswerMemory) -> Bool {
        switch requests.first {
        case .list(let query, let owner, _):
            let isFirst = call.statement != .longPage
            if isFirst, rows.count == TaskStatement.firstRows, query.limit.map({ $0 >= rows.count }) ?? true {
                askForMore(query, owner, answers.pageSize)
                return false
            }
            answerList(rows, query, owner, answers)
        case .find(_, let owner, let reply):
            do throws(StoreError) {
                let found = rows.count > 0 ? try TaskColumns.item(in: rows, 0, of: owner) : nil
                reply.answer(.success(found))
            } catch {
                reply.answer(.failure(error))
            }
        case nil: break
        }
        return true
    }

    private func askForMore(_ query: TaskQuery, _ owner: Owner, _ pageSize: Int) {
        // The task that fills the page, and one after it that shows that others follow.
        let bytes = pageSize + 2 * TaskText.longest + 2 * TaskStatement.leastRendered
        let rows = bytes / TaskStatement.leastRendered + 2
        call = TaskCall(
            statement: .longPage, parameters: Self.selection(query, owner, rows: rows) + [.integer(Int64(bytes))])
    }

    private func answerList(_ rows: borrowing Rows, _ query: TaskQuery, _ owner: Owner, _ answers: AnswerMemory) {
        let result: Result<TaskList, StoreError>
        do throws(StoreError) {
            var page = TaskPage(of: owner, atMost: query.limit, in: answers)
            for row in 0..<rows.count {
                guard try page.append(try TaskColumns.item(in: rows, row, of: owner)) else { break }
            }
            result = .success(page.list())
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
    private let answers: AnswerMemory
    private var result = UnitEnd()
    private var next = 0

    init(_ steps: [ReadStep], _ answers: AnswerMemory) {
        self.steps = steps
        self.answers = answers
        calls = steps.map { .task($0.call) }
    }

    /// Also those who have their answer: they are counted as answered when the unit ends.
    var callers: Int { steps.reduce(0) { $0 + $1.requests.count } }

    func take(_ rows: borrowing Rows, ofCall index: Int) {
        if steps[index].answer(rows, in: answers) { return settle(index) }
        result.reads.append(steps[index])
        next = index + 1
    }

    func fail(_ error: PostgreSQLError, atCall index: Int) {
        result.error = error
        let step = steps[index]
        switch error.kind {
        case .retryable, .unprepared, .transactionFailed:
            step.tries += 1
            guard step.tries > 5 else {
                // It and those behind it.
                result.reads += steps[index...]
                next = steps.count
                return
            }
        case .locked, .disconnected, .full, .exhausted, .readOnly, .forbidden, .cancelled, .other: break
        }
        step.refuse(StoreError(error))
        settle(index)
        result.reads += steps[(index + 1)...]
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
