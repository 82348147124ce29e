import Basics
package import HTTP
package import Tokens

/// The facts about a request when its answer is ready, for the log and the metrics.
///
/// All may be printed (V-130): of the client they hold only cleaned correlation ids, and of the claims a digest of the
/// owner.
package struct RequestRecord: Sendable {
    /// The number of the request, as in `X-Request-Id`.
    package var identifier: String
    package var method: Method
    /// The pattern of the path, such as `/api/tasks/{id}`.
    package var route: String
    package var status: Status
    /// The time from the end of the request's head until the answer was ready, in nanoseconds.
    package var duration: UInt64
    /// The length of the answer's body, in bytes.
    package var bytes: Int
    package var peer: String
    /// A digest of the owner, the same for all requests of one person.
    package var owner: UInt64?
    package var problem: String?
    /// The fine reason why the token was refused (V-116).
    package var refusal: TokenRefusal?
    /// Examines the refused token, which takes as long as another verification, for a line that is written (V-132).
    package var refusedToken: (@Sendable () -> RefusedToken?)?
    /// `client-request-id`, at most 64 characters of letters, digits and `-._`.
    package var clientRequestIdentifier: String?
    /// The trace id of a valid `traceparent`.
    package var trace: String?
}

/// The facts about a refused token that a log may show (V-132).
package struct RefusedToken: Sendable {
    /// The `kid` of the header, which names a public key, as at most 64 printable characters.
    package let keyIdentifier: String?
    /// A digest of the token, which is the same whenever the token comes again; the token cannot be computed from it.
    package let fingerprint: String
    /// The common mistake that the token shows (P-33).
    package let mistake: CommonMistake?

    package init(_ token: String, fingerprint: String, mistake: CommonMistake?) {
        // Made short and harmless, whatever the sender wrote (V-28, V-131).
        keyIdentifier = (try? JOSEHeader(of: CompactToken(token)))?.keyIdentifier.printable(64)
        self.fingerprint = fingerprint
        self.mistake = mistake
    }
}

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
