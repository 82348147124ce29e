private import Glibc

/// The positions of the lines of a head in the library's buffer, which show what libmicrohttpd hides of them.
///
/// It leaves the head where it was read and ends each text in place with a zero byte. So there is a gap before the next
/// line where a zero byte of the client cuts a text, where a line is folded (it is copied elsewhere), and where a zero
/// byte makes a line look like the empty one; after a line that ends with a bare line feed the next one begins too
/// early. Two readers could read all of these differently.
struct HeadLayout {
    private let start: UInt
    /// Where the next line must begin.
    private var next: UInt
    private var hasNoGap: Bool

    /// The request line of a call; its target was this long.
    @unsafe
    init(_ call: AccessCall, targetSize: Int) {
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
    }

    /// A field line; the library has skipped blanks between its colon and its value.
    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        let first = UInt(bitPattern: name.baseAddress)
        let second = UInt(bitPattern: value.baseAddress)
        if first != next || second <= first &+ UInt(name.count) { hasNoGap = false }
        next = second &+ UInt(value.count) &+ 2
    }

    /// Where the head ends, its empty line included.
    var end: UInt { next &+ 2 }

    /// Whether every line began right after the one before, up to the empty line.
    func isWhole(headSize: Int) -> Bool { hasNoGap && end == start &+ UInt(headSize) }
}
