import Basics

extension String {
    /// Whether this can be the value of `Host`: a name or an address, and perhaps a port, which may be empty (RFC 9110
    /// section 7.2, RFC 3986 section 3.2.3).
    package var isHostField: Bool { utf8.span.isHostField }

    /// Whether this value of `Host` names this machine: nobody can make a client send such a value to another machine.
    package var isLoopbackHost: Bool {
        guard isHostField else { return false }
        let host = if let end = firstIndex(of: "]") { self[...end] } else { prefix { $0 != ":" } }
        return IPAddress.isLoopback(host: host)
    }
}

extension Span<UInt8> {
    /// Whether these bytes can be the value of `Host`.
    package var isHostField: Bool {
        var end = 0
        if count > 0, self[0] == UInt8(ascii: "[") {
            while end < count, self[end] != UInt8(ascii: "]") { end += 1 }
            guard end < count, extracting(1..<end).isIPLiteral else { return false }
            end += 1
        } else {
            while end < count, self[end] != UInt8(ascii: ":") { end += 1 }
            guard end > 0, extracting(0..<end).isRegisteredName else { return false }
        }
        if end == count { return true }
        return self[end] == UInt8(ascii: ":") && extracting((end + 1)..<count).isPort
    }

    /// Whether the text between the brackets is an IPv6 address; addresses of future versions (`v1.…`) do not exist.
    private var isIPLiteral: Bool {
        guard let text = try? UTF8Span(validating: self), contains({ $0 == UInt8(ascii: ":") }) else { return false }
        return IPAddress(String(copying: text)) != nil
    }

    fileprivate var isPort: Bool { isEmpty || decimal.map { $0 <= 65535 } ?? false }

    /// Whether all characters are unreserved, delimiters within a part, or percent-encoded (RFC 3986 section 3.2.2).
    fileprivate var isRegisteredName: Bool {
        var index = 0
        while index < count {
            if self[index] == UInt8(ascii: "%") {
                guard index + 2 < count else { return false }
                let (high, low) = (self[index + 1].hexadecimalValue, self[index + 2].hexadecimalValue)
                guard high != nil, low != nil else { return false }
                index += 3
            } else {
                guard self[index].isNameCharacter else { return false }
                index += 1
            }
        }
        return true
    }
}

extension UInt8 {
    /// Whether this is unreserved, or a delimiter within a part (RFC 3986 section 2).
    fileprivate var isNameCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
