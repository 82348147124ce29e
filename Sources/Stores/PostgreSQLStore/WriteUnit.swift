import PostgreSQL
import Tasks

/// Writes that wait together: one transaction, one commit.
final class WriteUnit: StoreUnit {
    let isWriting = true
    let calls: [UnitCall]
    private let steps: [any WriteStep]
    private let isProbing: Bool
    /// For each call, its step and its number there; nil for those of the transaction itself.
    private let places: [(step: Int, call: Int)?]
    /// What a step could not read of its rows, by its number.
    private var broken: [Int: StoreError] = [:]
    private var failure: (error: PostgreSQLError, call: Int)?
    private(set) var isCommitted = false

    /// With `isProbing` a look at the database writes as an addition does, and counts as written.
    init(_ writes: [QueuedWrite], deadlineMilliseconds: Int, isProbing: Bool = false) {
        self.isProbing = isProbing
        steps = TransactionPlan(writes, isProbing: isProbing).steps
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
        result.answered = callers - result.writes.count
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
        let wishes = writes.count { if case .touch = $0.request { isProbing } else { true } }
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

    /// Those that are tried again; the others are refused.
    private func retries(_ error: PostgreSQLError, atCall index: Int) -> [QueuedWrite] {
        var again: [QueuedWrite] = []
        let writes = writes
        for write in writes {
            // A failed COMMIT is in doubt: behind foreign partitions a part of it may be done. A serialization failure is not.
            let isCertain = index < calls.count - 1 || error.kind == .retryable
            if isCertain, let write = retry(write, error.kind, isShared: writes.count > 1) {
                again.append(write)
            } else {
                write.request.refuse(StoreError(error))
            }
        }
        return again
    }

    /// A write as it is tried again, if that may help.
    private func retry(_ write: QueuedWrite, _ kind: PostgreSQLError.Kind, isShared: Bool) -> QueuedWrite? {
        var write = write
        switch kind {
        case .retryable, .transactionFailed, .unprepared, .locked:
            guard write.tries < 10 else { return nil }
            write.tries += 1
            if kind == .locked { write.company = .sameOwner }
        case .cancelled, .full, .forbidden, .other:
            // One of them is to blame, and only that one: each in a transaction of its own.
            guard isShared else { return nil }
            write.company = .nobody
        case .disconnected, .exhausted, .readOnly: return nil
        }
        return write
    }

    private func refuse(_ error: StoreError) {
        for write in writes { write.request.refuse(error) }
    }

    func lose(_ error: StoreError) {
        guard isCommitted else { return refuse(error) }
        for write in endWell().writes { write.request.refuse(error) }
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
