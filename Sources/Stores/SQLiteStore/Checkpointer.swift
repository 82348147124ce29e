import Basics
import Platform
import SQLite
import StoreEngine
import Synchronization
import Tasks

/// Copies the log of committed transactions into the database (a checkpoint), on its own thread and connection.
///
/// SQLite by itself copies in a transaction, whose callers wait for writes to places all over the file. Here the writer
/// goes on meanwhile. The pages reach the disk in small steps (`shim.h` of CSQLite), between which commits find a free
/// disk. SQLite begins the log anew when all of it is copied. So that this happens under any load, the writer pauses
/// while the last part is copied, and writes wait when the log is long (``CheckpointState``).
final class Checkpointer: Sendable {
    private let state = Mutex(CheckpointState())
    private let work = Wakeup()
    private let restEnd = Wakeup()
    private let thread = Mutex<NamedThread?>(nil)
    private let time = SystemTime()
    /// The longest rest of the writer between two transactions, in nanoseconds.
    private let longestRest: UInt64
    private let observer: @Sendable (StoreEvent) -> Void
    /// Called when a round has ended, so that there may be more room.
    private let onEnd: @Sendable () -> Void

    init(
        longestRest: UInt64 = 30_000_000, observer: @escaping @Sendable (StoreEvent) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.longestRest = longestRest
        self.observer = observer
        self.onEnd = onEnd
    }

    /// Starts the thread, which takes the connection.
    func start(on connection: TransferBox<Connection>) throws(OperatorError) {
        let started = try rethrowing(as: OperatorError.init) { () throws(SystemError) in
            try NamedThread.start("checkpointer") { [self] in
                guard let connection = connection.take() else { return }
                run { () throws(SQLiteError) in try connection.checkpoint() }
            }
        }
        thread.withLock { $0 = started }
    }

    var room: WriteRoom { state.withLock { $0.room } }

    /// Leaves the database to the checkpointer for a moment if that asks for it; called between transactions.
    func pauseIfWanted() {
        if state.withLock({ $0.takeMoment() }) { time.sleep(nanoseconds: CheckpointState.Bound.moment) }
        let end = time.monotonicNanoseconds + longestRest
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

    /// Makes the rounds until the checkpointer is closed; each pass copies what can be copied now.
    func run(_ pass: () throws(SQLiteError) -> Connection.CheckpointPass) {
        var isFailing = false
        while true {
            work.wait()
            guard state.withLock({ $0.phase }) != .closed else { return }
            do throws(SQLiteError) {
                try copyAll(pass)
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

    private func copyAll(_ pass: () throws(SQLiteError) -> Connection.CheckpointPass) throws(SQLiteError) {
        state.withLock { $0.beginRound(at: time.monotonicNanoseconds) }
        while true {
            state.withLock { $0.beginPass() }
            let done: Connection.CheckpointPass?
            do throws(SQLiteError) {
                done = try pass()
            } catch {
                // A transaction, or the checkpoint of another program, keeps the pass from beginning.
                guard error.kind == .busy else { throw error }
                done = nil
            }
            let step = state.withLock { $0.endPass(done, at: time.monotonicNanoseconds) }
            guard case .pass(let pause) = step else { return }
            if state.withLock({ $0.pause }) != .rest { restEnd.wake() }
            if pause > 0 { time.sleep(nanoseconds: pause) }
        }
    }

    private func wakeWriter() {
        restEnd.wake()
        onEnd()
    }
}

/// What the writer and the thread of the checkpoints know of the log, and what each of them does next.
///
/// It has no clock and no thread: times are monotonic nanoseconds. A round begins when enough new pages are in the log.
/// A round has passes until all is copied, or until something is in the way; each pass copies what is committed when it
/// begins.
struct CheckpointState {
    /// Lengths of the log, in pages of 4 KiB, and times.
    enum Bound {
        /// A round begins after this many new pages, and after half as many as the log has ever had.
        static let begin = 1000
        /// The writer rests while this many last pages are copied.
        static let last = 256
        /// Long writes wait until the log begins anew: 48 MiB.
        static let longWrites = 12_288
        /// All writes wait until the log begins anew: 64 MiB.
        static let writes = 16_384
        /// The pause in which a pass can begin, because a pass needs a moment without a transaction.
        static let moment: UInt64 = 300_000
        /// How long writes wait for a reader who keeps the log from being copied.
        static let patience: UInt64 = 250_000_000
    }

    enum Phase {
        case idle
        /// A round is due or under way.
        case copying
        case closed
    }

    /// What the writer does before the next transaction.
    enum Pause {
        case none
        /// It pauses once, so that a pass can begin.
        case moment
        /// It waits for the end of the round, for a limited time.
        case rest
    }

    enum Step: Equatable {
        case pass(after: UInt64)
        case end
    }

    private(set) var phase = Phase.idle
    private(set) var pause = Pause.none
    /// The pages of the log after the last transaction, and the most pages that the log has ever had.
    private var length = 0
    private var longest = 0
    /// Pages written to the log since the last pass began.
    private var written = 0
    /// Whether a transaction is open, whose pages are not counted yet.
    private var isWriting = false
    /// Whether the last round could not copy all: then no write waits until the log has begun anew.
    private var isHindered = false
    /// The copied pages of the log after the last pass that copied some, and when it ended.
    private var copied: Int64 = -1
    private var progress: UInt64 = 0

    /// The writes that may be made now; the others wait until the log begins anew, or until it is known that it cannot.
    var room: WriteRoom {
        guard phase == .copying, length >= Bound.longWrites else { return .everything }
        return length < Bound.writes || isHindered ? .shortWrites : .nothing
    }

    // MARK: The writer

    /// Whether the writer leaves a moment now.
    mutating func takeMoment() -> Bool {
        guard pause == .moment else { return false }
        pause = .none
        return true
    }

    mutating func beginTransaction() { isWriting = true }

    /// Notes the length of the log after one or more transactions; returns whether a round begins.
    mutating func endTransaction(logLength: Int) -> Bool {
        let isAnew = logLength < length
        if isAnew { isHindered = false }
        written += isAnew ? logLength : logLength - length
        length = logLength
        longest = max(longest, length)
        isWriting = false
        guard isDue, phase == .idle else { return false }
        phase = .copying
        return true
    }

    private var isDue: Bool {
        written >= max(Bound.begin, min(longest, Bound.writes) / 2) || length >= Bound.longWrites && !isHindered
    }

    // MARK: The thread of the checkpoints

    mutating func beginRound(at now: UInt64) { (copied, progress) = (-1, now) }

    mutating func beginPass() {
        written = 0
        if phase == .copying, pause == .none { pause = .moment }
    }

    /// Ends a pass, by the pages of the log and those that are copied; nil if the pass could not begin.
    mutating func endPass(_ pass: Connection.CheckpointPass?, at now: UInt64) -> Step {
        guard phase == .copying else { return .end }
        // A pass does not see what was committed while it ran.
        let left = pass.map { Int($0.log - $0.copied) + written }
        if left == 0, !isWriting {
            endRound(isHindered: false)
            return .end
        }
        var wait = Bound.moment
        if let pass, pass.copied != copied {
            (copied, progress, wait) = (pass.copied, now, 0)
        } else if !isWriting, isHindered || now > progress + Bound.patience {
            // A reader of an older state, or another program, is in the way.
            endRound(isHindered: true)
            return .end
        }
        pause = (left ?? .max) <= Bound.last || length >= Bound.writes ? .rest : .none
        return .pass(after: wait)
    }

    /// Ends a round, also one that failed.
    mutating func endRound(isHindered: Bool) {
        if isHindered { self.isHindered = true }
        if phase == .copying { phase = .idle }
        pause = .none
    }

    mutating func close() {
        phase = .closed
        pause = .none
    }
}
