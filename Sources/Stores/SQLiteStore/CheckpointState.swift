import StoreEngine

/// What the writer and the thread of the checkpoints know of the log, and what each of them does next.
///
/// It has no clock and no thread: times are monotonic nanoseconds. A round begins when enough new pages are in the log. It
/// makes passes until all is copied, or until something is in the way; each pass copies what was committed when it began.
struct CheckpointState {
    /// Lengths of the log, in pages of 4 KiB, and times.
    enum Bound {
        /// A round begins after this many new pages, or when the log is half as long as it ever was.
        static let begin = 1000
        /// The writer rests while this many last pages are copied.
        static let last = 256
        /// Long writes wait until the log began anew: 48 MiB.
        static let longWrites = 12_288
        /// All writes wait until the log began anew: 64 MiB.
        static let writes = 16_384
        /// The longest rest of the writer between two transactions.
        static let rest: UInt64 = 30_000_000
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
        /// It leaves a moment, once.
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
    /// The pages of the log after the last transaction, and the most pages that the log ever had.
    private var length = 0
    private var longest = 0
    /// Pages written to the log since the last pass began.
    private var written = 0
    /// Whether a transaction is open, whose pages are not counted yet.
    private var isWriting = false
    /// Whether the last round could not copy all: no write waits then, until the log began anew.
    private var isHindered = false
    /// The copied pages of the log after the last pass that copied some, and when it ended.
    private var copied: Int64 = -1
    private var progress: UInt64 = 0

    /// The writes that may be made now; other writes wait until the log began anew, or cannot begin anew.
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
    mutating func endPass(_ pass: (log: Int64, copied: Int64)?, at now: UInt64) -> Step {
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
