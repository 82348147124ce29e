private import Basics
import CMicroHTTPD
private import Glibc
import HTTP

// The uses of libmicrohttpd beyond its promises, in the order of internals.h, which has the reasons and figures.

// 1. Memory that was not used is not zeroed.

/// Keeps libmicrohttpd, once for the process, from touching memory of connections that no request needed.
let sparePages: Void = CMicroHTTPD_spare_pages()

// 2. All field lines of an answer are one field.

extension FieldLines {
    /// Adds the lines to a response of the library; returns false if there is no memory.
    func add(to message: OpaquePointer) -> Bool {
        guard !bytes.isEmpty else { return true }
        return unsafe bytes.withUnsafeBytes { bytes in
            unsafe CMicroHTTPD_add_lines(message, bytes.baseAddress, bytes.count) == 1
        }
    }
}

// 3. The answers to requests that the library refuses by itself are ours.

/// Replaces libmicrohttpd's function of this name, which the library calls to refuse a request with its own page.
///
/// There is no other way to choose the text. The library calls the function for its refusals, and since 1.0 for a
/// redirect. The dynamic linker prefers the program's symbols, unless the library is linked to prefer its own. The
/// library's page stays where a response was sent before, because nobody reads the page.
@_cdecl("MHD_queue_response")
package func queueRefusalOfLibrary(_ handle: OpaquePointer?, _ status: UInt32, _ page: OpaquePointer?) -> UInt32 {
    guard let handle = unsafe handle,
        let connection = unsafe object(ClientConnection.self, CMicroHTTPD_socket_context(handle)),
        case .replacePage = connection.apply(.refusedByLibrary)
    else { return unsafe CMicroHTTPD_queue(handle, status, page).rawValue }
    let fault = HTTPFault(ofLibrary: status)
    if fault == .tooManyFields { connection.noteLongestField() }
    let response = connection.refusal(of: fault)
    // 1.0 refuses a chunk extension that fills its memory twice, and the second refusal replaces the first.
    if status == 413, connection.isChunked {
        _ = connection.respondEarly(response)
        return MHD_Result.NO.rawValue
    }
    return connection.queue(response, closing: true).rawValue
}

extension ClientConnection {
    /// Makes a head of the longest field only, which is all that is known of a head that the library refuses.
    fileprivate func noteLongestField() {
        var size = 0
        guard head == nil, let target = unsafe rawTargetStart,
            let name = unsafe CMicroHTTPD_longest_field(handle, target, targetSize, &size)
        else { return }
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: name, count: size))
        let line = HeaderSection.Line(name: 0..<size, value: size..<size)
        head = RequestHead(
            method: .get, target: RequestTarget(raw: "", absolutePath: ""),
            headers: HeaderSection(bytes: bytes, lines: [line]), identifier: identifier, peer: peer)
    }
}

extension HTTPFault {
    /// Reads the meaning of a status that libmicrohttpd sends.
    fileprivate init(ofLibrary status: UInt32) {
        switch status {
        case 413: self = .bodyTooLarge
        case 414: self = .targetTooLong
        case 431: self = .tooManyFields
        case 501: self = .unknownMethod
        case 505: self = .version
        // 400, or 500 for a chunk size line that fills the memory, or a redirect to the target.
        default: self = .framing
        }
    }
}

// 4. Heads, and the lines with the sizes of chunks, are read where the library keeps them.

extension ClientConnection {
    /// Returns whether the library takes the line feed of the chunk's size line for the first byte of the chunk.
    ///
    /// libmicrohttpd 1.0.1 does so after each chunk extension, so it would see the end of the body in another place.
    func isMisread(_ piece: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = piece.baseAddress, unsafe start.pointee == UInt8(ascii: "\n") else { return false }
        return unsafe start[-1] == UInt8(ascii: "\r")  // at least the head stands before the piece
    }

    /// Returns the announced size of the chunk that begins with this piece, or 0 if it cannot be seen.
    ///
    /// libmicrohttpd accepts a chunk of 2^63 bytes and does not tell its size. But it hands a chunk over in its read
    /// buffer, which begins where the head ended, so the line with the size usually stands before the piece. If that
    /// line came alone, the buffer was emptied since, and only the bytes themselves can be counted.
    func announcedChunkSize(_ piece: UnsafeBufferPointer<UInt8>) -> Int {
        guard let start = piece.baseAddress else { return 0 }
        let distance = UInt(bitPattern: start) &- bodyBuffer
        guard bodyBuffer != 0, distance > 0, distance <= UInt(core.limits.connectionMemory) else { return 0 }
        let before = unsafe UnsafeBufferPointer(start: start - Int(distance), count: Int(distance))
        let line = unsafe before.dropLast()  // the line feed of this line
        let first = unsafe line.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? line.startIndex
        let digits = unsafe line[first...].drop { $0 == UInt8(ascii: "0") }.prefix { $0.hexadecimalValue != nil }
        // Numbers of 15 digits are less than 2^60.
        guard unsafe digits.count <= 15 else { return .max }
        return unsafe Int(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
    }
}

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
    /// Such a library does not count the blanks after a value, and uses the bytes after the last value again.
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
    /// Returns false if no more are wanted. The library has skipped blanks between the colon and the value.
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

func fieldReceived(
    _ layout: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
    _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
    guard let layout = unsafe layout?.assumingMemoryBound(to: HeadLayout.self) else { return .NO }
    // A field without a value is the one of CMicroHTTPD_hide_cookies.
    guard unsafe value != nil else { return .YES }
    let isMoreWanted = unsafe layout.pointee.add(bytes(name, nameSize), bytes(value, valueSize))
    return isMoreWanted ? .YES : .NO
}

private func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: unsafe start == nil ? 0 : count)
    return unsafe bytes.bindMemory(to: UInt8.self)
}
