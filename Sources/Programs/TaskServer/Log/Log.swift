import Basics
import Platform
import Synchronization

/// The log of the server: lines on standard output, written by a thread of their own.
///
/// Standard output, because that is what containers and service managers keep. The caller formats its line into a buffer that
/// it shares with no other loop, and never waits for the reader; where the reader is too slow, lines are dropped and counted.
/// The lines of a thread, so of a connection, keep their order; those of different threads are at most 5 ms apart.
final class Log: Sendable {
    /// More than a machine for this server has loops and threads that log often; a power of two.
    private static let buffers = 8
    /// How long lines gather before they are written together: 5 ms.
    private static let gathering: UInt64 = 5_000_000
    /// Memory that is kept for the lines of the next write, in bytes.
    private static let room = 1 << 16

    private let level: LogLevel
    private let format: LogText.Format
    private let time: any TimeSource
    private let sink: @Sendable ([UInt8]) -> Void
    private let buffers: [LogBuffer]
    private let isClosing = Atomic<Bool>(false)
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
        buffers = (0..<Self.buffers).map { _ in LogBuffer(format) }
    }

    /// How many lines were dropped because their reader was too slow.
    var dropped: Int { droppedEver.load(ordering: .relaxed) }

    /// Starts the thread that writes.
    func start() throws(NamedThread.Failure) {
        _ = try NamedThread.start("log") { self.run() }
    }

    /// Whether lines of this level are logged.
    func writes(_ level: LogLevel) -> Bool { level >= self.level }

    /// Logs one line; `fields` adds to it, and must not log.
    func write(_ level: LogLevel, _ event: StaticString, _ fields: (inout LogText) -> Void = { _ in }) {
        guard writes(level) else { return }
        let buffer = buffers[ThreadNumber.current & (Self.buffers - 1)]
        switch buffer.add(level, event, at: time.wallMilliseconds, fields) {
        case .first: work.wake()
        case .waiting: break
        case .dropped: droppedEver.add(1, ordering: .relaxed)
        }
    }

    /// Writes what waits, for at most this time, and ends the thread.
    func close(within limit: Duration = .seconds(1)) {
        isClosing.store(true, ordering: .sequentiallyConsistent)
        work.wake()
        pause.wake()
        _ = finished.wait(untilMonotonicNanoseconds: time.monotonicNanoseconds + UInt64(limit / .nanoseconds(1)))
    }

    private func run() {
        var lines: [UInt8] = []
        var isLast = false
        while !isLast {
            work.wait()
            _ = pause.wait(untilMonotonicNanoseconds: time.monotonicNanoseconds + Self.gathering)
            // Read before the lines: those of before the close are among them.
            isLast = isClosing.load(ordering: .sequentiallyConsistent)
            take(into: &lines)
            // The wake of a second buffer may come after its lines were taken.
            guard !lines.isEmpty else { continue }
            sink(lines)
            lines.removeAll(keepingCapacity: lines.capacity <= Self.room)
        }
        finished.wake()
    }

    /// Appends what waits, with a line about what was dropped.
    private func take(into lines: inout [UInt8]) {
        var dropped = 0
        for buffer in buffers { dropped += buffer.drain(to: &lines) }
        guard dropped > 0 else { return }
        var line = LogText(format)
        line.begin(.warning, "log-lines-dropped", at: time.wallMilliseconds)
        line.number("count", dropped)
        line.end()
        line.drain(to: &lines, keeping: 0)
    }
}
