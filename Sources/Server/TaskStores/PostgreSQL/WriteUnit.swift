import PostgreSQL
import Tasks

/// Writes that wait together: one transaction, one commit.
final class WriteUnit: StoreUnit {
    let isWriting = true
    let calls: [UnitCall]
    private let steps: [any WriteStep]
    /// For each call, its step and its number there; nil for those of the transaction itself.
    private let places: [(step: Int, call: Int)?]
    /// What a step could not read of its rows, by its number.
    private var broken: [Int: StoreError] = [:]
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
            broken[place.step] = error
        }
    }

    func fail(_ error: PostgreSQLError, atCall index: Int) {
        failure = failure ?? (error, index)
    }

    func end() -> UnitEnd {
        guard let failure else { return isCommitted ? endWell() : endDoubtful() }
        var result = UnitEnd()
        result.error = failure.error
        // A COMMIT that failed has ended the transaction.
        result.mustRollBack = failure.call < calls.count - 1
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
        for (number, step) in steps.enumerated() {
            if let error = broken[number] {
                for write in step.writes { write.request.refuse(error) }
            } else {
                result.writes += step.answer()
            }
        }
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
        // A failed COMMIT is in doubt: behind foreign partitions a part of it may be done. A serialization failure is not.
        if index == calls.count - 1, error.kind != .retryable { return [] }
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
