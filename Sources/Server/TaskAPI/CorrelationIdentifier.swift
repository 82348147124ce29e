import Basics

/// The ids that clients send to find their request in a log again.
enum CorrelationIdentifier {
    /// A `client-request-id` (ADAL, MSAL) that can be logged and returned: at most 64 letters, digits and `-._`.
    static func cleaned(_ value: String) -> String? {
        guard (1...64).contains(value.utf8.count),
            value.utf8.allSatisfy({ $0.isLetterOrDigit || "-._".utf8.contains($0) })
        else { return nil }
        return value
    }

    /// The trace id of a `traceparent` of any version but ff (W3C Trace Context section 3.2); later ones may have more
    /// parts.
    static func trace(_ value: String) -> String? {
        let parts = value.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, zip(parts, [2, 32, 16, 2]).allSatisfy({ $0.utf8.count == $1 && isHex($0) }),
            parts[0] != "ff", parts[0] != "00" || parts.count == 4, !isZero(parts[1]), !isZero(parts[2])
        else { return nil }
        return String(parts[1])
    }

    private static func isHex(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func isZero(_ text: Substring) -> Bool { text.utf8.allSatisfy { $0 == 0x30 } }
}
