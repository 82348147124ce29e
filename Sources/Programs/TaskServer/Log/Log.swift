import Platform
import Synchronization

/// The log of the server: lines on standard output, written by a thread of their own.
///
/// Standard output, because that is what containers and service managers keep. The caller pays for the formatting
/// into a buffer and never waits for the reader; where the reader is too slow, lines are dropped and counted.
final class Log: Sendable {
    private struct State {
        var text: LogText
        var clock = LogClock()
        var dropped = 0
        var closing = false
    }

    /// How much may wait for the reader, in bytes.
    private static let most = 1 << 20
    /// How long lines gather before they are written together: 5 ms.
    private static let gathering: UInt64 = 5_000_000

    private let level: LogLevel
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
        state = Mutex(State(text: LogText(format)))
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
        let now = time.wallMilliseconds
        let isFirst = state.withLock { state in
            guard state.text.bytes.count < Self.most else {
                state.dropped += 1
                droppedEver.add(1, ordering: .relaxed)
                return false
            }
            let isFirst = state.text.bytes.isEmpty
            state.text.begin(level, event, time: state.clock.text(of: now))
            fields(&state.text)
            state.text.end()
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
        let now = time.wallMilliseconds
        return state.withLock { state in
            if state.dropped > 0 {
                state.text.begin(.warning, "log-lines-dropped", time: state.clock.text(of: now))
                state.text.number("count", state.dropped)
                state.text.end()
                state.dropped = 0
            }
            return (state.text.removeAll(), state.closing)
        }
    }
}
