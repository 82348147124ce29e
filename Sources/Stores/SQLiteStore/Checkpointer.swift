import Basics
import Platform
import SQLite
import StoreEngine
import Synchronization
import Tasks

/// Copies the log of committed transactions into the database file (a checkpoint), on a thread and connection of its own.
///
/// SQLite by itself copies in a transaction, whose callers wait for writes to places all over the file. Here the writer goes
/// on meanwhile. The pages reach the disk in small steps (`shim.h` of CSQLite), between which commits find a free disk.
/// SQLite begins the log anew when all of it is copied. So that this happens under any load, the writer pauses while the
/// last part is copied, and writes wait when the log is long (``CheckpointState``).
final class Checkpointer: Sendable {
    private let state = Mutex(CheckpointState())
    private let work = Wakeup()
    private let restEnd = Wakeup()
    private let thread = Mutex<NamedThread?>(nil)
    private let time = SystemTime()
    private let observer: @Sendable (StoreEvent) -> Void
    /// Called when a round has ended, so that there may be more room.
    private let onEnd: @Sendable () -> Void

    init(observer: @escaping @Sendable (StoreEvent) -> Void, onEnd: @escaping @Sendable () -> Void) {
        self.observer = observer
        self.onEnd = onEnd
    }

    /// Starts the thread, which takes the connection.
    func start(on connection: TransferBox<Connection>) throws(OperatorError) {
        let started = try rethrowing(as: OperatorError.init) { () throws(SystemError) in
            try NamedThread.start("checkpointer") { [self] in
                guard let connection = connection.take() else { return }
                run(on: connection)
            }
        }
        thread.withLock { $0 = started }
    }

    var room: WriteRoom { state.withLock { $0.room } }

    /// Leaves the database to the checkpointer for a moment, if the checkpointer asks for it; called between transactions.
    func pauseIfWanted() {
        if state.withLock({ $0.takeMoment() }) { time.sleep(nanoseconds: CheckpointState.Bound.moment) }
        let end = time.monotonicNanoseconds + CheckpointState.Bound.rest
        while state.withLock({ $0.pause }) == .rest, restEnd.wait(untilMonotonicNanoseconds: end) {}
    }

    func beginTransaction() {
        state.withLock { $0.beginTransaction() }
    }

    /// Notes the length of the log after one or more transactions; enough new pages begin a round.
    func endTransaction(logLength length: Int) {
        if state.withLock({ $0.endTransaction(logLength: length) }) { work.wake() }
    }

    /// Ends the thread after its present pass; pages that are not copied stay in the log.
    func close() {
        state.withLock { $0.close() }
        work.wake()
        thread.withLock { $0.take() }?.join()
        wakeWriter()
    }

    private func run(on connection: borrowing Connection) {
        var isFailing = false
        while true {
            work.wait()
            guard state.withLock({ $0.phase }) != .closed else { return }
            do throws(SQLiteError) {
                try copyAll(with: connection)
                isFailing = false
            } catch {
                // The log stays as it is, and the next commits begin another round.
                if !isFailing { observer(.checkpointFailed(reason: error.description)) }
                isFailing = true
                state.withLock { $0.endRound(isHindered: true) }
            }
            wakeWriter()
        }
    }

    private func copyAll(with connection: borrowing Connection) throws(SQLiteError) {
        state.withLock { $0.beginRound(at: time.monotonicNanoseconds) }
        while true {
            state.withLock { $0.beginPass() }
            let pass = try pass(with: connection)
            let step = state.withLock { $0.endPass(pass, at: time.monotonicNanoseconds) }
            guard case .pass(let pause) = step else { return }
            if state.withLock({ $0.pause }) != .rest { restEnd.wake() }
            if pause > 0 { time.sleep(nanoseconds: pause) }
        }
    }

    /// Copies what can be copied now; nil if a transaction, or the checkpoint of another program, keeps it from beginning.
    private func pass(with connection: borrowing Connection) throws(SQLiteError) -> (log: Int64, copied: Int64)? {
        do throws(SQLiteError) {
            let pass = try connection.checkpoint()
            return (pass.log, pass.copied)
        } catch {
            guard error.kind == .busy else { throw error }
            return nil
        }
    }

    private func wakeWriter() {
        restEnd.wake()
        onEnd()
    }
}
