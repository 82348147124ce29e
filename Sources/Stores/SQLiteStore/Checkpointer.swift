import Basics
import Platform
import SQLite
import Synchronization
import Tasks

/// Copies the log of committed transactions into the database file (a checkpoint), on a thread and connection of its own.
///
/// SQLite by itself does it in the transaction that makes the log longer than a thousand pages, whose callers then wait for
/// as many writes to places all over the file. Here the writer goes on meanwhile, and the pages reach the disk in small steps
/// (`shim.h` of CSQLite), between which commits find a free disk. SQLite begins the log from its start when all of it is
/// copied; so that this happens under any load, the writer is asked to pause for the last part, and when the log is long.
final class Checkpointer: Sendable {
    /// When what happens; in pages of the log, which are 4 KiB.
    private enum Bound {
        /// That many new ones begin a checkpoint, or half of the longest log that there was: a log that grows costs each commit
        /// a change of the file system, and in a long one more writes share a page of the file.
        static let begin = 1000
        /// The writer pauses while the last ones are copied.
        static let last = 256
        /// The log is long: the writer pauses before each transaction.
        static let long = 16384
        /// The longest pause, in nanoseconds.
        static let pause: UInt64 = 30_000_000
    }

    private struct State {
        /// Pages written to the log since the last pass began.
        var written = 0
        /// Whether a transaction is open, whose pages are not counted yet.
        var isWriting = false
        var isPauseWanted = false
        var isClosed = false
        var longestLog = 0

        var isDue: Bool { written >= max(Bound.begin, min(longestLog, Bound.long) / 2) }
    }

    private let state = Mutex(State())
    private let work = Wakeup()
    private let pauseEnd = Wakeup()
    private let thread = Mutex<NamedThread?>(nil)
    private let time = SystemTime()
    private let observer: @Sendable (StoreEvent) -> Void

    init(observer: @escaping @Sendable (StoreEvent) -> Void) {
        self.observer = observer
    }

    /// Starts the thread, which takes the connection.
    func start(on connection: TransferBox<Connection>) throws(NamedThread.Failure) {
        let started = try NamedThread.start("checkpointer") { [self] in
            guard let connection = connection.take() else { return }
            run(on: connection)
        }
        thread.withLock { $0 = started }
    }

    /// Lets the checkpointer have the disk for a moment, if it asks for it; called between transactions.
    func pauseIfWanted() {
        let end = time.monotonicNanoseconds + Bound.pause
        while state.withLock({ $0.isPauseWanted }), pauseEnd.wait(untilMonotonicNanoseconds: end) {}
    }

    func beginTransaction() {
        state.withLock { $0.isWriting = true }
    }

    /// Counts the pages that a transaction, or several, have written; enough of them begin a checkpoint.
    func endTransaction(pages: Int) {
        let begins = state.withLock { state in
            let wasDue = state.isDue
            state.written += pages
            state.isWriting = false
            return state.isDue && !wasDue
        }
        if begins { work.wake() }
    }

    /// Ends the thread after the pass that it is in; the rest stays in the log.
    func close() {
        state.withLock { $0.isClosed = true }
        work.wake()
        thread.withLock { $0.take() }?.join()
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func run(on connection: borrowing Connection) {
        var isFailing = false
        while true {
            work.wait()
            guard !isClosed else { return }
            let error = failure(of: connection)
            if let error, !isFailing { observer(.checkpointFailed(reason: error.description)) }
            isFailing = error != nil
            setPause(false)
        }
    }

    /// Why the log could not be copied: it stays as it is then, and the next commits begin another checkpoint.
    private func failure(of connection: borrowing Connection) -> SQLiteError? {
        do throws(SQLiteError) {
            try checkpoint(connection)
            return nil
        } catch {
            // Another program copies it.
            return error.kind == .busy ? nil : error
        }
    }

    /// Copies until nothing is left, or until a reader of an older state is in the way.
    private func checkpoint(_ connection: borrowing Connection) throws(SQLiteError) {
        var copied: Int64 = -1
        while !isClosed {
            state.withLock { $0.written = 0 }
            let pass = try connection.checkpoint()
            // A pass does not see what was committed while it ran.
            let (newer, isWriting) = state.withLock { state in
                state.longestLog = max(state.longestLog, Int(pass.log) + state.written)
                return (state.written, state.isWriting)
            }
            let rest = Int(pass.log - pass.copied) + newer
            guard rest > 0 || isWriting, pass.copied != copied else { return }
            setPause(rest <= Bound.last || Int(pass.log) + newer > Bound.long)
            copied = pass.copied
        }
    }

    private func setPause(_ isWanted: Bool) {
        let ended = state.withLock { state in
            defer { state.isPauseWanted = isWanted }
            return state.isPauseWanted && !isWanted
        }
        if ended { pauseEnd.wake() }
    }
}
