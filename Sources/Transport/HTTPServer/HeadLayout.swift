private import Glibc
import HTTP

/// The positions of the lines of a head in the library's buffer, which show what libmicrohttpd hides of them.
///
/// It leaves the head where it was read and ends each text in place with a zero byte. So there is a gap before the next
/// line where a zero byte of the client cuts a text, where a line is folded (it is copied elsewhere), and where a zero
/// byte makes a line look like the empty one; after a line that ends with a bare line feed the next one begins too
/// early. Two readers could read all of these differently. What follows a gap is not looked at.
@safe
struct HeadLayout {
    private let start: UInt
    /// Where the next line must begin.
    private var next: UInt
    private var hasNoGap: Bool
    private var section: UnsafePointer<UInt8>?
    private var lines: [HeaderSection.Line] = []
    private let limit: Int

    /// The request line of a call; its target was this long.
    ///
    /// At most `limit` field lines may follow.
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
        // One space between method, target and version (RFC 9112 section 3).
        hasNoGap = unsafe target == start &+ UInt(strlen(method)) &+ 1 && end == target &+ UInt(targetSize) &+ 1
        next = unsafe end &+ UInt(strlen(version)) &+ 2
        lines.reserveCapacity(16)
    }

    /// Adds a field line; whether more are wanted.
    ///
    /// The library has skipped blanks between its colon and its value.
    @unsafe
    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        let first = UInt(bitPattern: name.baseAddress)
        let second = UInt(bitPattern: value.baseAddress)
        guard lines.count <= limit, first == next, second > first &+ UInt(name.count) else {
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

    /// The lines up to the first gap.
    ///
    /// A copy, because a handler may wait for longer than the library keeps its buffer.
    var headers: HeaderSection {
        let bytes = unsafe UnsafeBufferPointer(start: section, count: lines.last?.value.upperBound ?? 0)
        return HeaderSection(bytes: unsafe Array(bytes), lines: lines)
    }

    /// Where the head ends, its empty line included.
    var end: UInt { next &+ 2 }

    /// Whether every line began right after the one before, up to the empty line.
    func isWhole(headSize: Int) -> Bool { hasNoGap && end == start &+ UInt(headSize) }
}
