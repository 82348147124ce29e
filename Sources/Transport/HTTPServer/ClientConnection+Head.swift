import Basics
import CMicroHTTPD
private import Glibc
import HTTP

extension ClientConnection {
    func checkHead(_ call: AccessCall?) -> RequestLifecycle.Event {
        guard let call = unsafe call else { return .headRefused(refusal(of: .framing), keepsConnection: false) }
        var layout = unsafe HeadLayout(call, targetSize: targetSize, limit: core.limits.fields)
        unsafe withUnsafeMutablePointer(to: &layout) { layout in
            _ = unsafe MHD_get_connection_values_n(handle, .HEADER_KIND, fieldReceived, layout)
        }
        let headers = layout.headers
        var validator = HeadValidator(headers, limit: core.limits.fields)
        let size = unsafe CMicroHTTPD_head_size(handle)
        if size > core.limits.head { validator.refuse(targetSize > size / 2 ? .targetTooLong : .tooManyFields) }
        validator.close(version: unsafe text(call.version), isWhole: layout.isWhole(headSize: size))
        // After 100 Continue libmicrohttpd would take the next request for the body.
        if validator.hasExpectation, validator.body == .none { unsafe CMicroHTTPD_forget_expectation(handle) }
        isChunked = validator.body == .chunked
        bodyBuffer = validator.fault == nil ? layout.end : 0
        let method = Method(unsafe text(call.method))
        var peer = peer
        if isTrusted, let fault = noteClient(headers, &peer) { validator.refuse(fault) }
        var target = RequestTarget(raw: "", absolutePath: "")
        if validator.fault == nil {
            do throws(HTTPFault) {
                target = try self.target(for: method, host: validator.host)
                try method.checkServed()
            } catch { validator.refuse(error) }
        }
        head = RequestHead(method: method, target: target, headers: headers, identifier: identifier, peer: peer)
        guard let fault = validator.fault else { return .headAccepted(validator.body) }
        return .headRefused(refusal(of: fault), keepsConnection: fault.leavesFraming && validator.body == .none)
    }

    private func target(for method: Method, host: ArraySlice<UInt8>?) throws(HTTPFault) -> RequestTarget {
        guard rawTarget != "*" || method == .options else { throw .target }
        return try RequestTarget(parsing: rawTarget, host: host.map { String(decoding: $0, as: UTF8.self) })
    }
}

private func text(_ text: UnsafePointer<CChar>?) -> String {
    guard let text = unsafe text else { return "" }
    return unsafe String(cString: text)
}

extension Method {
    fileprivate func checkServed() throws(HTTPFault) {
        guard case .other(let name) = self else { return }
        throw name == "CONNECT" || name == "TRACE" ? .forbiddenMethod : .unknownMethod
    }
}

extension HTTPFault {
    /// Whether the end of the request is certain in spite of this fault.
    fileprivate var leavesFraming: Bool {
        switch self {
        case .target, .unknownMethod, .forbiddenMethod, .expectation, .bodyTooLarge, .timeout, .overloaded, .stopping,
            .tooManyAtOnce:
            true
        case .framing, .repeatedField, .host, .tooManyFields, .targetTooLong, .version:
            false
        }
    }
}

extension ClientConnection {
    /// Makes the client whose request a trusted proxy passes on the peer, or returns a fault if it has too many
    /// requests.
    ///
    /// A proxy that names no client has no limit. Requests whose client is unclear share one limit, or an invented
    /// header would be the way around the limit.
    func noteClient(_ headers: HeaderSection, _ peer: inout String) -> HTTPFault? {
        let client: IPAddress
        switch ForwardedClient(in: headers, trusting: core.limits.trustedProxies) {
        case .none: return nil
        case .unclear: client = address
        case .client(let address, let text):
            client = address.network
            peer = text
        }
        guard core.slots.takeRequest(of: client) else { return .tooManyAtOnce }
        self.client = client
        return nil
    }

    func forgetClient() {
        guard let client else { return }
        core.slots.releaseRequest(of: client)
        self.client = nil
    }
}

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
