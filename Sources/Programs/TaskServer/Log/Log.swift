import Basics
import Platform
import Synchronization

/// The log of the server: lines on standard output, written by a thread of their own.
///
/// Standard output, because that is what containers and service managers keep. The caller formats its line, holds the lock
/// while the bytes are copied, and never waits for the reader; where the reader is too slow, lines are dropped and counted.
final class Log: Sendable {
    private struct State {
        var lines: [UInt8] = []
        var dropped = 0
        var closing = false
    }

    /// How much may wait for the reader, in bytes.
    private static let most = 1 << 20
    /// Room for the lines of one write, in bytes, so that few of them are copied while the lock is held.
    private static let room = 1 << 16
    /// How long lines gather before they are written together: 5 ms.
    private static let gathering: UInt64 = 5_000_000

    private let level: LogLevel
    private let format: LogText.Format
    private let time: any TimeSource
    private let sink: @Sendable ([UInt8]) -> Void
    private let state: Mutex<State>
    private let work = Wakeup()
    private let pause = Wakeup()
    private let finished = Wakeup()
    private let droppedEver = Atomic<Int>(0)

    init(
        _ level: LogLevel, _ format: LogText.Format, time: any TimeSource = SystemTime(),
        sink: @escaping @Sendable ([UInt8]) -> Void = { try? StandardStream.output.write($0) }
    ) {
        self.level = level
        self.time = time
        self.sink = sink
        self.format = format
        state = Mutex(State())
    }

    /// How many lines were dropped because their reader was too slow.
    var dropped: Int { droppedEver.load(ordering: .relaxed) }

    /// Starts the thread that writes.
    func start() throws(NamedThread.Failure) {
        _ = try NamedThread.start("log") { self.run() }
    }

    /// Whether lines of this level are logged.
    func writes(_ level: LogLevel) -> Bool { level >= self.level }

    /// Logs one line; `fields` adds to it.
    func write(_ level: LogLevel, _ event: StaticString, _ fields: (inout LogText) -> Void = { _ in }) {
        guard writes(level) else { return }
        var line = LogText(format, level, event, at: time.wallMilliseconds)
        fields(&line)
        line.end()
        let isFirst = state.withLock { state in
            guard state.lines.count < Self.most else {
                state.dropped += 1
                droppedEver.add(1, ordering: .relaxed)
                return false
            }
            let isFirst = state.lines.isEmpty
            line.bytes.copy(to: &state.lines)
            return isFirst
        }
        if isFirst { work.wake() }
    }

    /// Writes what waits, for at most a second, and ends the thread.
    func close() {
        state.withLock { $0.closing = true }
        work.wake()
        pause.wake()
        _ = finished.wait(untilMonotonicNanoseconds: time.monotonicNanoseconds + 1_000_000_000)
    }

    private func run() {
        var closing = false
        while !closing {
            work.wait()
            _ = pause.wait(untilMonotonicNanoseconds: time.monotonicNanoseconds + Self.gathering)
            let (bytes, isLast) = take()
            sink(bytes)
            closing = isLast
        }
        finished.wake()
    }

    /// What waits, with a line about what was dropped.
    private func take() -> (bytes: [UInt8], isLast: Bool) {
        var empty: [UInt8] = []
        empty.reserveCapacity(Self.room)
        let (waiting, dropped, isLast) = state.withLock { state in
            defer {
                state.lines = empty
                state.dropped = 0
            }
            return (state.lines, state.dropped, state.closing)
        }
        guard dropped > 0 else { return (waiting, isLast) }
        var line = LogText(format, .warning, "log-lines-dropped", at: time.wallMilliseconds)
        line.number("count", dropped)
        line.end()
        var all = waiting
        line.bytes.copy(to: &all)
        return (all, isLast)
    }
}
