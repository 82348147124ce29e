private import Glibc

/// Whether a head consists of its request line and the reported fields alone, each line ended by CRLF.
///
/// libmicrohttpd parses the head in place and reports where method, version, names and values are. Each must begin where the one
/// before it ends. Whatever else lies between them is what the library accepts and hides: a bare LF as a line end, a folded
/// line, a NUL that cuts a target or a value, and a line without a name, which ends the head for the library alone (V-142).
struct HeadLayout {
    /// CR and LF.
    private static let lineEnd: UInt = 2
    private let start: UInt
    /// The address at which the next line must begin.
    private var next: UInt
    private var isContiguous: Bool

    /// Begins with the request line.
    init(method: UnsafePointer<CChar>?, target: String, version: UnsafePointer<CChar>?) {
        start = UInt(bitPattern: method)
        guard let method = unsafe method, let version = unsafe version else {
            (next, isContiguous) = (0, false)
            return
        }
        isContiguous = unsafe version == method + strlen(method) + 1 + target.utf8.count + 1
        next = unsafe UInt(bitPattern: version + strlen(version)) + Self.lineEnd
    }

    /// Takes the next field line.
    mutating func take(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        if UInt(bitPattern: name.baseAddress) != next { isContiguous = false }
        next = UInt(bitPattern: value.baseAddress) + UInt(value.count) + Self.lineEnd
    }

    /// Whether the fields and the empty line after them are all of a head of this size.
    func isWhole(size: Int) -> Bool {
        isContiguous && next + Self.lineEnd == start + UInt(size)
    }
}
