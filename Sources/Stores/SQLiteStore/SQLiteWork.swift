import SQLite
import StoreEngine
import Tasks

/// A read of this store.
final class SQLiteRead: JobWork {
    let run: @Sendable (borrowing ReadStatements) throws(SQLiteError) -> Verdict

    init<Outcome: Sendable>(
        _ answer: @escaping @Sendable (Result<Outcome, StoreError>) -> Void,
        _ body: @escaping @Sendable (borrowing ReadStatements) throws(SQLiteError) -> Result<Outcome, StoreError>
    ) {
        run = { statements throws(SQLiteError) in
            let result = try body(statements)
            return .answer { answer(result) }
        }
    }
}

/// A write of this store: it runs in the open transaction, and its caller may be answered only after the commit.
final class SQLiteWrite: JobWork {
    /// What a write has changed, nil for a probe, which leaves nothing; and what answers its caller.
    typealias Done = (change: OwnerChange?, answer: @Sendable () -> Void)

    let run: @Sendable (inout SQLiteTransaction) throws(SQLiteError) -> Done

    init(_ run: @escaping @Sendable (inout SQLiteTransaction) throws(SQLiteError) -> Done) { self.run = run }
}

/// The session of a thread that reads.
final class SQLiteReader: StoreSession {
    private let statements: ReadStatements
    private let health: SQLiteHealth

    init(_ statements: consuming ReadStatements, _ health: SQLiteHealth) {
        self.statements = statements
        self.health = health
    }

    func maintain(at now: UInt64) -> UInt64 { .max }

    func run(_ jobs: [Job]) -> BatchResult {
        BatchResult(jobs.map { ($0, verdict(on: $0)) })
    }

    private func verdict(on job: Job) -> Verdict {
        if let error = health.refusal { return .refuse(error) }
        guard let read = job.work as? SQLiteRead else { return .refuse(.broken(reason: "no read of SQLite")) }
        do throws(SQLiteError) {
            return try read.run(statements)
        } catch {
            return .refuse(health.record(error))
        }
    }

    func end() {}
}
