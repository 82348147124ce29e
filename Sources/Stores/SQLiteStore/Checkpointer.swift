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
/// last part is copied, and writes wait when the log is long.
final class Checkpointer: Sendable {
    /// Lengths of the log, in pages of 4 KiB, and times.
    private enum Bound {
        /// A checkpoint starts after this many new pages, or when the log is half as long as it ever was.
        static let begin = 1000
        /// The writer pauses while this many last pages are copied.
        static let last = 256
        /// Long writes wait until the log began anew: 48 MiB.
        static let longWrites = 12_288
        /// All writes wait until the log began anew: 64 MiB.
        static let writes = 16_384
        /// The longest pause, in nanoseconds.
        static let pause: UInt64 = 30_000_000
        /// The pause in which a pass can begin, in nanoseconds: a pass needs a moment without a transaction.
        static let start: UInt64 = 300_000
        /// How long writes wait for a reader who keeps the log from being copied, in nanoseconds.
        static let patience: UInt64 = 250_000_000
    }

    private struct State {
        /// The pages of the log after the last transaction, and the most pages that the log ever had.
        var length = 0
        var longest = 0
        /// Pages written to the log since the last pass began.
        var written = 0
        /// Whether a transaction is open, whose pages are not counted yet.
        var isWriting = false
        /// Whether a checkpoint is due or under way.
        var isCopying = false
        /// Whether a pass waits for a moment without a transaction.
        var isStarting = false
        var isPauseWanted = false
        /// Whether the last checkpoint could not copy all: no write waits then, until the log began anew.
        var isHindered = false
        var isClosed = false

        var isDue: Bool {
            written >= max(Bound.begin, min(longest, Bound.writes) / 2) || length >= Bound.longWrites && !isHindered
        }
    }

    private let state = Mutex(State())
    private let work = Wakeup()
    private let pauseEnd = Wakeup()
    private let thread = Mutex<NamedThread?>(nil)
    private let time = SystemTime()
    private let observer: @Sendable (StoreEvent) -> Void
    /// Called when a checkpoint has ended, so that there may be more room.
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

    /// The writes that may be made now; other writes wait until the log began anew, or cannot begin anew.
    var room: WriteRoom {
        state.withLock { state in
            guard state.isCopying, state.length >= Bound.longWrites else { return .everything }
            return state.length < Bound.writes || state.isHindered ? .shortWrites : .nothing
        }
    }

    /// Leaves the database to the checkpointer for a moment, if the checkpointer asks for it; called between transactions.
    func pauseIfWanted() {
        let isStarting = state.withLock { state in
            defer { state.isStarting = false }
            return state.isStarting
        }
        if isStarting { time.sleep(nanoseconds: Bound.start) }
        let end = time.monotonicNanoseconds + Bound.pause
        while state.withLock({ $0.isPauseWanted }), pauseEnd.wait(untilMonotonicNanoseconds: end) {}
    }

    func beginTransaction() {
        state.withLock { $0.isWriting = true }
    }

    /// Notes the length of the log after one or more transactions; enough new pages begin a checkpoint.
    func endTransaction(logLength length: Int) {
        let begins = state.withLock { state in
            let isAnew = length < state.length
            if isAnew { state.isHindered = false }
            state.written += isAnew ? length : length - state.length
            state.length = length
            state.longest = max(state.longest, length)
            state.isWriting = false
            guard state.isDue, !state.isCopying else { return false }
            state.isCopying = true
            return true
        }
        if begins { work.wake() }
    }

    /// Ends the thread after its present pass; pages that are not copied stay in the log.
    func close() {
        state.withLock { $0.isClosed = true }
        work.wake()
        thread.withLock { $0.take() }?.join()
        end(isHindered: true)
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func run(on connection: borrowing Connection) {
        var isFailing = false
        while true {
            work.wait()
            guard !isClosed else { return }
            do throws(SQLiteError) {
                end(isHindered: try !copyAll(with: connection))
                isFailing = false
            } catch {
                // The log stays as it is, and the next commits begin another checkpoint.
                if !isFailing { observer(.checkpointFailed(reason: error.description)) }
                isFailing = true
                end(isHindered: true)
            }
        }
    }

    private func end(isHindered: Bool) {
        state.withLock { state in
            state.isCopying = false
            state.isStarting = false
            if isHindered { state.isHindered = true }
        }
        setPause(false)
        onEnd()
    }

    /// Copies until nothing is left; false if a reader of an older state, or another program, is in the way.
    private func copyAll(with connection: borrowing Connection) throws(SQLiteError) -> Bool {
        var copied: Int64 = -1
        var progress = time.monotonicNanoseconds
        while !isClosed {
            state.withLock { ($0.written, $0.isStarting) = (0, true) }
            let pass = try pass(with: connection)
            // A pass does not see what was committed while it ran.
            let state = state.withLock { $0 }
            let rest = pass.map { Int($0.log - $0.copied) + state.written }
            if rest == 0, !state.isWriting { return true }
            if let pass, pass.copied != copied {
                (copied, progress) = (pass.copied, time.monotonicNanoseconds)
            } else if state.isWriting {
                time.sleep(nanoseconds: Bound.start)
            } else {
                let isHindered = state.isHindered || time.monotonicNanoseconds > progress + Bound.patience
                guard !isHindered else { return false }
                time.sleep(nanoseconds: Bound.start)
            }
            setPause((rest ?? .max) <= Bound.last || state.length >= Bound.writes)
        }
        return false
    }

    /// Copies what can be copied now; nil if a transaction, or the checkpoint of another program, keeps it from beginning.
    private func pass(with connection: borrowing Connection) throws(SQLiteError) -> Connection.CheckpointPass? {
        do throws(SQLiteError) {
            return try connection.checkpoint()
        } catch {
            guard error.kind == .busy else { throw error }
            return nil
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
