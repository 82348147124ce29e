/// An address of IPv4, in its IPv6-mapped form (RFC 4291 section 2.5.5.2), or of IPv6, without a port.
package struct IPAddress: Sendable, Hashable {
    /// The 128 bits, of which the first of the address is the highest.
    package let bits: UInt128

    private static let mapped: UInt128 = 0xFFFF << 32

    /// Creates the IPv6 address of these bits.
    package init(bits: UInt128) { self.bits = bits }

    /// Creates the IPv4 address of these bits.
    package init(version4 bits: UInt32) { self.bits = Self.mapped | UInt128(bits) }

    /// Reads the address in a text such as `192.0.2.1` or `2001:db8::1`; nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.contains(":") else {
            guard let bits = Self.version4(text) else { return nil }
            self.init(version4: bits)
            return
        }
        guard let bits = Self.version6(text) else { return nil }
        self.init(bits: bits)
    }

    /// Whether this is an address of IPv4.
    var isVersion4: Bool { bits >> 32 == 0xFFFF }

    /// Whether the address is of this machine: 127.0.0.0/8 or ::1.
    package var isLoopback: Bool { bits == 1 || (isVersion4 && (bits >> 24) & 0xFF == 127) }

    /// Returns whether the host of a URL or a `Host` field is certainly this machine.
    ///
    /// Other names than `localhost`, in any case, and addresses (IPv6 in brackets) are not looked up.
    package static func isLoopback(host: some StringProtocol) -> Bool {
        if host.hasPrefix("[") {
            return host.hasSuffix("]") && IPAddress(host.dropFirst().dropLast())?.isLoopback ?? false
        }
        return host.isEqualIgnoringCase(to: "localhost") || IPAddress(host)?.isLoopback ?? false
    }

    /// The addresses among which one client can choose: an IPv6 network with a 64-bit prefix, or one IPv4 address.
    package var network: IPAddress { isVersion4 ? self : IPAddress(bits: (bits >> 64) << 64) }

    private static func version4(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.utf8.count), let byte = UInt8(decimal: part),
                part.utf8.count == 1 || part.utf8.first != 0x30
            else { return nil }
            bits = bits << 8 | UInt32(byte)
        }
        return bits
    }

    private static func version6(_ text: some StringProtocol) -> UInt128? {
        guard text.utf8.count <= 45, let gap = text.firstIndex(of: ":") else { return nil }
        guard let double = doubleColon(in: text, from: gap) else {
            guard let groups = groups(text, mayEndDotted: true), groups.count == 8 else { return nil }
            return joined(groups)
        }
        let head = text[..<double]
        let tail = text[text.index(double, offsetBy: 2)...]
        guard let left = head.isEmpty ? [] : groups(head, mayEndDotted: false),
            let right = tail.isEmpty ? [] : groups(tail, mayEndDotted: true),
            left.count + right.count < 8
        else { return nil }
        return joined(left + Array(repeating: 0, count: 8 - left.count - right.count) + right)
    }

    private static func doubleColon<Text: StringProtocol>(in text: Text, from start: Text.Index) -> Text.Index? {
        var index = start
        while index < text.endIndex {
            let next = text.index(after: index)
            if text[index] == ":", next < text.endIndex, text[next] == ":" { return index }
            index = next
        }
        return nil
    }

    /// Returns the groups of 16 bits; the last two groups of an address may be written as an address of IPv4.
    private static func groups(_ text: some StringProtocol, mayEndDotted: Bool) -> [UInt16]? {
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndDotted, index == parts.count - 1, part.contains(".") {
                guard let bits = version4(part) else { return nil }
                groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
            } else {
                guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0.hexadecimalValue != nil }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups
    }

    private static func joined(_ groups: [UInt16]) -> UInt128 {
        groups.reduce(0) { $0 << 16 | UInt128($1) }
    }
}

/// Addresses that share their first bits: `10.0.0.0/8`, `fd00::/8`, or one address alone.
package struct IPAddressRange: Sendable, Hashable {
    private let first: UInt128
    private let mask: UInt128

    /// Reads the range in a text; nil for any other text, also if bits after the prefix are set.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }) else { return nil }
        let isVersion4 = address.isVersion4 && !parts[0].contains(":")
        let longest = isVersion4 ? 32 : 128
        var length = longest
        if parts.count == 2 {
            guard let given = Int(decimal: parts[1]), given <= longest else { return nil }
            length = given
        }
        let prefix = length + (isVersion4 ? 96 : 0)
        mask = prefix == 0 ? 0 : UInt128.max << UInt128(128 - prefix)
        first = address.bits
        guard first & ~mask == 0 else { return nil }
    }

    /// Returns whether the address is in the range.
    package func contains(_ address: IPAddress) -> Bool { address.bits & mask == first }
}
