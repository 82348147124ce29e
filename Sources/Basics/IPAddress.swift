private import Glibc

/// An address of IPv4, in its IPv6-mapped form (RFC 4291 section 2.5.5.2), or of IPv6, without a port.
package struct IPAddress: Sendable, Hashable {
    /// The 128 bits, of which the first of the address is the highest.
    package let bits: UInt128

    private static let mapped: UInt128 = 0xFFFF << 32

    package init(bits: UInt128) { self.bits = bits }

    package init(version4 bits: UInt32) { self.bits = Self.mapped | UInt128(bits) }

    /// Reads the address in a text such as `192.0.2.1` or `2001:db8::1`; nil for any other text.
    package init?(_ text: some StringProtocol) {
        // The longest address has 45 bytes, and a text of C ends at its first zero byte.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        let text = String(text)
        var (version4, version6): (UInt32, UInt128) = (0, 0)
        if unsafe inet_pton(AF_INET, text, &version4) == 1 {
            self.init(version4: UInt32(bigEndian: version4))
        } else if unsafe inet_pton(AF_INET6, text, &version6) == 1 {
            self.init(bits: UInt128(bigEndian: version6))
        } else {
            return nil
        }
    }

    /// Reads an IPv6 address in brackets, as URLs and `Host` fields have it: `[2001:db8::1]`; nil for any other text.
    package init?(bracketed text: some StringProtocol) {
        guard text.hasPrefix("["), text.hasSuffix("]"), text.contains(":") else { return nil }
        self.init(text.dropFirst().dropLast())
    }

    /// The address as a text, which ``init(_:)`` reads.
    package var text: String {
        let (family, start) = isVersion4 ? (AF_INET, 12) : (AF_INET6, 0)
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            let text = unsafe withUnsafeBytes(of: bits.bigEndian) { bytes in
                unsafe inet_ntop(
                    family, bytes.baseAddress?.advanced(by: start), buffer.baseAddress, socklen_t(buffer.count))
            }
            return unsafe text.map { unsafe String(cString: $0) } ?? ""
        }
    }

    package var isVersion4: Bool { bits >> 32 == 0xFFFF }

    /// Whether the address is of this machine: 127.0.0.0/8 or ::1.
    package var isLoopback: Bool { bits == 1 || (isVersion4 && (bits >> 24) & 0xFF == 127) }

    /// Returns whether the host of a URL or a `Host` field is certainly this machine.
    ///
    /// Other names than `localhost`, in any case, and addresses (IPv6 in brackets) are not looked up.
    package static func isLoopback(host: some StringProtocol) -> Bool {
        (IPAddress(bracketed: host) ?? IPAddress(host))?.isLoopback ?? host.isEqualIgnoringCase(to: "localhost")
    }

    /// The addresses among which one client can choose: an IPv6 network with a 64-bit prefix, or one IPv4 address.
    package var network: IPAddress { isVersion4 ? self : IPAddress(bits: (bits >> 64) << 64) }
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

extension [IPAddressRange] {
    /// Returns whether the address is in one of the ranges, such as those of trusted proxies.
    package func contains(_ address: IPAddress) -> Bool { contains { $0.contains(address) } }
}
