import Basics
import Platform
import Synchronization

/// The log of the server: lines on standard output, written by a thread of their own.
///
/// Containers and service managers keep standard output. A caller adds a whole line to the queue and never waits for
/// the reader of the log; while the reader is too slow, lines are dropped and counted. The lines keep their order.
final class Log: Sendable {
    private struct Queue {
        var lines: [UInt8] = []
        var dropped = 0
    }

    /// The most bytes that may wait for the reader, besides the last line.
    private static let most = 1 << 20
    /// How long lines gather before they are written together: 5 ms.
    private static let gathering: UInt64 = 5_000_000
    /// The memory that stays allocated for the lines of the next write, in bytes.
    private static let room = 1 << 16

    /// The rank of the least important level that is logged.
    private let leastRank: Atomic<Int>
    private let format: LogText.Format
    private let time: any TimeSource
    private let sink: @Sendable ([UInt8]) -> Void
    private let queue = Mutex(Queue())
    private let isClosing = Atomic<Bool>(false)
    private let work = Wakeup()
    private let finished = Wakeup()

    init(
        _ level: LogLevel, _ format: LogText.Format, time: any TimeSource = SystemTime(),
        sink: @escaping @Sendable ([UInt8]) -> Void = { try? StandardStream.output.write($0) }
    ) {
        leastRank = Atomic(level.rank)
        self.time = time
        self.sink = sink
        self.format = format
    }

    /// How many lines were dropped because their reader was too slow.
    var dropped: Int { queue.withLock { $0.dropped } }

    func start() throws(SystemError) {
        _ = try NamedThread.start("log") { self.run() }
    }

    /// Whether lines of this level are logged.
    func writes(_ level: LogLevel) -> Bool { level.rank >= leastRank.load(ordering: .relaxed) }

    /// Logs lines of this level and the more important ones from now on.
    func setLevel(_ level: LogLevel) { leastRank.store(level.rank, ordering: .relaxed) }

    /// Logs one line; `fields` adds to it, and so does the number of lines that were left out before it.
    func write(
        _ level: LogLevel, _ event: StaticString, leftOut: Int = 0, _ fields: (inout LogText) -> Void = { _ in }
    ) {
        guard writes(level) else { return }
        // Made before the lock is taken, which is held only to copy the line.
        var line = LogText(format, level, event, at: time.wallMilliseconds)
        fields(&line)
        if leftOut > 0 { line.number("leftOut", leftOut) }
        line.end()
        let isFirst = queue.withLock { queue in
            let size = queue.lines.count
            if size < Self.most { line.copy(to: &queue.lines) } else { queue.dropped += 1 }
            return size == 0
        }
        if isFirst { work.wake() }
    }

    /// Writes the lines that wait, for at most this time, and ends the thread.
    func close(within limit: Duration = .seconds(1)) {
        isClosing.store(true, ordering: .sequentiallyConsistent)
        work.wake()
        finished.wait(untilMonotonicNanoseconds: time.monotonicNanoseconds + UInt64(limit.nanoseconds))
    }

    private func run() {
        var lines: [UInt8] = []
        var reported = 0
        var isLast = false
        while !isLast {
            work.wait()
            SystemTime().sleep(nanoseconds: Self.gathering)
            // Read before the lines, so that the lines from before the close are among the last ones.
            isLast = isClosing.load(ordering: .sequentiallyConsistent)
            let dropped = queue.withLock { queue in
                swap(&queue.lines, &lines)
                return queue.dropped
            }
            if dropped > reported { append(dropped: dropped - reported, to: &lines) }
            reported = dropped
            if !lines.isEmpty { sink(lines) }
            lines.removeAll(keepingCapacity: lines.capacity <= Self.room)
        }
        finished.wake()
    }

    private func append(dropped count: Int, to lines: inout [UInt8]) {
        var line = LogText(format, .warning, "log-lines-dropped", at: time.wallMilliseconds)
        line.number("count", count)
        line.end()
        line.copy(to: &lines)
    }
}

/// How important a line is.
enum LogLevel: String, CaseIterable, Sendable {
    case debug, info, warning, error

    var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}

/// A line of a log as bytes: JSON for machines, or `name=value` for people.
///
/// Every text is escaped and cut (V-131), so that nothing a stranger sent can end a line, colour a terminal or fill
/// a disk.
struct LogText: ~Copyable {
    enum Format: Sendable { case json, text }

    /// The longest text of a field, in bytes.
    static let longest = 256

    private let format: Format
    private var bytes = ByteWriter(capacity: 512)

    /// Begins a line: how important it is, what happened, and when, in milliseconds since 1970.
    init(_ format: Format, _ level: LogLevel, _ event: StaticString, at milliseconds: Int64) {
        self.format = format
        let moment = Timestamp(milliseconds: milliseconds).form
        let word = level.rawValue
        switch format {
        case .json:
            bytes.append(#"{"time":""#)
            bytes.append(moment.span)
            bytes.append(#"","level":""#)
            bytes.append(word.utf8.span)
            bytes.append(#"","event":""#, event, "\"")
        case .text:
            // A person at a terminal knows the day.
            bytes.append(moment.span.extracting(11..<23))
            bytes.append(" ")
            bytes.append(word.utf8.span)
            bytes.append(" ")
            bytes.append(event)
        }
    }

    mutating func end() {
        bytes.append(format == .json ? "}\n" : "\n")
    }

    func copy(to lines: inout [UInt8]) { bytes.copy(to: &lines) }

    mutating func number(_ name: StaticString, _ value: Int) {
        begin(field: name, isQuoted: false)
        bytes.append(decimal: value)
    }

    /// A field with a number of 64 bits as hexadecimal digits.
    mutating func hex(_ name: StaticString, _ value: UInt64) {
        begin(field: name, isQuoted: format == .json)
        bytes.append(hexadecimal: value)
        if format == .json { bytes.append(UInt8(ascii: "\"")) }
    }

    /// A field with a text, escaped and cut; nothing where there is none.
    mutating func text(_ name: StaticString, _ value: String?, limit: Int = longest) {
        guard let value else { return }
        let text = value.utf8.span
        let isPlain = Self.isPlain(text)
        let isQuoted = format == .json || !isPlain
        begin(field: name, isQuoted: isQuoted)
        if isPlain, text.count <= limit {
            bytes.append(text)
        } else {
            append(escaping: text, limit: limit)
        }
        if isQuoted { bytes.append(UInt8(ascii: "\"")) }
    }

    private mutating func begin(field name: StaticString, isQuoted: Bool) {
        switch format {
        case .json: bytes.append(",\"", name, isQuoted ? "\":\"" : "\":")
        case .text: bytes.append(" ", name, isQuoted ? "=\"" : "=")
        }
    }

    /// Appends printable ASCII, with a backslash before a quote or a backslash, and escapes every other byte by itself.
    private mutating func append(escaping text: Span<UInt8>, limit: Int) {
        var escaped: [UInt8] = []
        for index in text.indices.prefix(limit) {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): escaped += [UInt8(ascii: "\\"), byte]
            case 0x20..<0x7F: escaped.append(byte)
            default:
                escaped.append(contentsOf: (format == .json ? "\\u00" : "\\x").utf8)
                escaped.append(hexadecimal: byte)
            }
        }
        bytes.append(escaped.span)
        if text.count > limit { bytes.append("...") }
    }

    /// Whether a text needs no quotes and no escape; without branches, so that it becomes vector code.
    private static func isPlain(_ text: Span<UInt8>) -> Bool {
        var special: UInt8 = text.isEmpty ? 1 : 0
        for index in text.indices { special |= Self.isSpecial(text[index]) }
        return special == 0
    }

    private static func isSpecial(_ byte: UInt8) -> UInt8 {
        (byte <= 0x20 ? 1 : 0) | (byte >= 0x7F ? 1 : 0) | (byte == UInt8(ascii: "=") ? 1 : 0)
            | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
    }
}
