private import CMicroHTTPD
private import Glibc
import HTTP

/// The positions of the lines of a head in libmicrohttpd's buffer, which show faults that the library hides.
///
/// The library ends each text in its buffer with a zero byte. There is a gap before the next line if a zero byte of
/// the client cuts a text or makes a line look like the empty one, or if a line is folded, which the library copies
/// elsewhere. After a bare line feed, the next line begins too early. Two readers could understand such heads
/// differently, so lines after a gap are not read.
@safe
struct HeadLayout {
    private let start: UInt
    /// The address at which the next line must begin.
    private var next: UInt
    private var hasNoGap: Bool
    private var section: UnsafePointer<UInt8>?
    private var lines: [HeaderSection.Line] = []
    private let limit: Int
    /// Whether the library refuses such heads itself, as 1.0 does.
    ///
    /// It does not count the blanks after a value, and uses the bytes after the last value again.
    private let isChecked = CMicroHTTPD_is_one() == 1

    /// Takes the request line of a call, whose target had this length; at most `limit` field lines may follow.
    @unsafe
    init(_ call: AccessCall, targetSize: Int, limit: Int) {
        self.limit = limit
        start = unsafe UInt(bitPattern: call.method)
        guard let method = unsafe call.method, let version = unsafe call.version else {
            (next, hasNoGap) = (0, false)
            return
        }
        let target = unsafe UInt(bitPattern: call.target)
        let end = UInt(bitPattern: version)
        // One space stands between method, target and version (RFC 9112 section 3).
        hasNoGap = unsafe target == start &+ UInt(strlen(method)) &+ 1 && end == target &+ UInt(targetSize) &+ 1
        next = unsafe end &+ UInt(strlen(version)) &+ 2
        lines.reserveCapacity(16)
    }

    /// Adds a field line.
    ///
    /// Returns false if no more are wanted. The library has skipped blanks between its colon and its value.
    @unsafe
    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        let first = UInt(bitPattern: name.baseAddress)
        let second = UInt(bitPattern: value.baseAddress)
        let isNext = isChecked ? first >= next : first == next
        guard lines.count <= limit, isNext, second > first &+ UInt(name.count) else {
            hasNoGap = false
            return false
        }
        if unsafe section == nil { unsafe section = name.baseAddress }
        let begin = Int(first &- UInt(bitPattern: unsafe section))
        let valueBegin = begin + Int(second &- first)
        lines.append(
            HeaderSection.Line(
                name: begin..<begin + name.count, value: valueBegin..<valueBegin + value.count))
        next = second &+ UInt(value.count) &+ 2
        return true
    }

    /// A copy of the lines up to the first gap, because a handler may wait longer than the library keeps its buffer.
    var headers: HeaderSection {
        let bytes = unsafe UnsafeBufferPointer(start: section, count: lines.last?.value.upperBound ?? 0)
        return HeaderSection(bytes: unsafe Array(bytes), lines: lines)
    }

    /// The address after the empty line, or an earlier one from which on there are no bytes of fields.
    var end: UInt { isChecked ? next &- 1 : next &+ 2 }

    /// Returns whether every line began right after the line before, up to the empty line.
    func isWhole(headSize: Int) -> Bool { hasNoGap && (isChecked || end == start &+ UInt(headSize)) }
}
