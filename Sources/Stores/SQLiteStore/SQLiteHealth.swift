package import SQLite
import StoreEngine
import Synchronization
package import Tasks

/// The faults of a database that concern more than one request, shared by all threads of a store.
final class SQLiteHealth: Sendable {
    private struct State {
        var displacement: String?
        var damage: String?
    }

    private let state = Mutex(State())
    private let observer: @Sendable (StoreEvent) -> Void

    init(observer: @escaping @Sendable (StoreEvent) -> Void) {
        self.observer = observer
    }

    /// The reason why nothing may be read or written now; nil if there is none.
    var refusal: StoreError? {
        state.withLock { $0.displacement }.map { .unavailable(reason: $0) }
    }

    /// The reason why the database cannot be relied on, although requests are answered; nil if there is none.
    var damage: StoreError? { state.withLock { $0.damage }.map { .broken(reason: $0) } }

    /// Notes the fault of the files, nil if they are in their place; returns whether this is a change.
    func note(displacement: String?) -> Bool {
        let isChange = state.withLock { state in
            defer { state.displacement = displacement }
            return (state.displacement == nil) != (displacement == nil)
        }
        if isChange { observer(displacement.map { .displaced(reason: $0) } ?? .replaced) }
        return isChange
    }

    /// Keeps an error that shows a damaged file; returns the error that callers get.
    func record(_ error: SQLiteError) -> StoreError {
        switch error.kind {
        case .corrupt, .notADatabase:
            let isFirst = state.withLock { state in
                defer { state.damage = state.damage ?? error.description }
                return state.damage == nil
            }
            if isFirst { observer(.damaged(reason: error.description)) }
        case .busy, .full, .inputOutput, .readOnly, .cannotOpen, .constraint, .other: break
        }
        return StoreError(error)
    }
}

extension StoreError {
    /// The error that callers get for a failed statement.
    init(_ error: SQLiteError) {
        switch error.kind {
        case .full: self = .full
        case .busy, .cannotOpen: self = .unavailable(reason: error.description)
        case .inputOutput, .notADatabase, .corrupt, .readOnly, .constraint, .other:
            self = .broken(reason: error.description)
        }
    }
}

extension SQLiteError: TransactionFailure {
    package init(_ value: ForeignValue) { self = .corrupt(value.message) }

    /// The error for the operator.
    var report: ReportedFailure {
        ReportedFailure(code: String(code), reason: description, isFull: kind == .full)
    }
}
