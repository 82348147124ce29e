extension String {
    /// Whether this can be the value of `Host`: a name or an address, and perhaps a port (RFC 9110 section 7.2).
    ///
    /// The port may be empty, as RFC 3986 section 3.2.3 allows, and is otherwise at most 65535.
    public var isHostField: Bool {
        let bytes = utf8.span
        var end = 0
        if bytes.count > 0, bytes[0] == UInt8(ascii: "[") {
            while end < bytes.count, bytes[end] != UInt8(ascii: "]") { end += 1 }
            guard end < bytes.count, bytes.extracting(1..<end).isIPLiteral else { return false }
            end += 1
        } else {
            while end < bytes.count, bytes[end] != UInt8(ascii: ":") { end += 1 }
            guard end > 0, bytes.extracting(0..<end).isRegisteredName else { return false }
        }
        if end == bytes.count { return true }
        return bytes[end] == UInt8(ascii: ":") && bytes.extracting((end + 1)..<bytes.count).isPort
    }

    /// Whether this value of `Host` names this machine, which no stranger can make a client believe of another.
    public var isLoopbackHost: Bool {
        guard isHostField else { return false }
        if beginsWithoutCase("[") { return self == "[::1]" || hasPrefix("[::1]:") }
        let name = String(prefix { $0 != ":" })
        if name.isSameField(as: "localhost") { return true }
        let octets = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0].elementsEqual("127".utf8) && Array(name.utf8).span.isIPv4
    }
}

extension Span<UInt8> {
    fileprivate var isPort: Bool {
        var value = 0
        for index in indices {
            guard let digit = self[index].hexadecimalValue, digit < 10 else { return false }
            value = min(value * 10 + Int(digit), 65536)
        }
        return value <= 65535
    }

    /// Unreserved characters, delimiters within a part, and percent-encoded ones (RFC 3986 section 3.2.2).
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

    /// What stands between the brackets: an IPv6 address, or `v`, a version, and an address of the future.
    fileprivate var isIPLiteral: Bool {
        guard count > 0, self[0].lowercasedASCII == UInt8(ascii: "v") else { return isIPv6 }
        var dot = 1
        while dot < count, self[dot].hexadecimalValue != nil { dot += 1 }
        guard dot > 1, dot + 1 < count, self[dot] == UInt8(ascii: ".") else { return false }
        for index in (dot + 1)..<count where !self[index].isNameCharacter && self[index] != UInt8(ascii: ":") {
            return false
        }
        return true
    }

    /// Eight groups of up to four hexadecimal digits, the last two perhaps an IPv4 address; `::` once for groups of zero.
    fileprivate var isIPv6: Bool {
        var groups = 0
        var isShortened = false
        var index = 0
        if count >= 2, self[0] == UInt8(ascii: ":"), self[1] == UInt8(ascii: ":") {
            isShortened = true
            index = 2
        }
        while index < count {
            var end = index
            while end < count, self[end] != UInt8(ascii: ":") { end += 1 }
            let group = extracting(index..<end)
            if end == count, group.isIPv4 {
                groups += 2
                break
            }
            guard group.isHexadecimalGroup else { return false }
            groups += 1
            index = end + 1
            guard end < count else { break }
            // A colon stands before another group, or before the colon that makes `::`.
            guard index < count else { return false }
            if self[index] == UInt8(ascii: ":") {
                guard !isShortened else { return false }
                isShortened = true
                index += 1
            }
        }
        return isShortened ? groups <= 7 : groups == 8
    }

    private var isHexadecimalGroup: Bool {
        guard (1...4).contains(count) else { return false }
        for index in indices where self[index].hexadecimalValue == nil { return false }
        return true
    }

    /// Four numbers up to 255, without leading zeros.
    fileprivate var isIPv4: Bool {
        var numbers = 0
        var start = 0
        for index in 0...count where index == count || self[index] == UInt8(ascii: ".") {
            let digits = extracting(start..<index)
            guard (1...3).contains(digits.count), digits.isPort, digits.count == 1 || digits[0] != UInt8(ascii: "0")
            else { return false }
            var value = 0
            for place in digits.indices { value = value * 10 + Int(digits[place] - UInt8(ascii: "0")) }
            guard value <= 255 else { return false }
            numbers += 1
            start = index + 1
        }
        return numbers == 4
    }
}

extension UInt8 {
    /// Unreserved, or a delimiter within a part (RFC 3986 section 2).
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
