import Basics
import HTTP
import Tasks
import Tokens

/// What one request leaves behind on its way, for its record.
///
/// Touched by one thread at a time: the request's, whichever runs it. A class, because the work on the body goes on
/// where the work on the head stopped.
final class RequestTrail: @unchecked Sendable {
    // Unchecked: `decide` and the closure that it returns run one after the other, never at once, and the server's
    // hand-over between them orders the memory.
    let head: RequestHead
    let route: Route
    let started: UInt64
    var owner: Owner?
    private var problem: String?
    private var refusal: TokenRefusal?
    private var refusedToken: RefusedToken?

    init(head: RequestHead, route: Route, started: UInt64) {
        self.head = head
        self.route = route
        self.started = started
    }

    func note(_ failure: APIFailure, refusedToken: RefusedToken?) {
        problem = failure.problem.code
        refusal = failure.tokenRefusal
        self.refusedToken = refusedToken
    }

    func record(_ response: Response, at now: UInt64) -> RequestRecord {
        RequestRecord(
            identifier: head.identifier, method: head.method, route: route.template, status: response.status,
            duration: now - started, bytes: response.body.count, peer: head.peer,
            owner: owner.map { FNV1a(of: $0.identifier).value },
            problem: problem, refusal: refusal, keyIdentifier: refusedToken?.keyIdentifier,
            tokenFingerprint: refusedToken?.fingerprint,
            clientRequestIdentifier: head.headers["client-request-id"].flatMap { CorrelationIdentifier.cleaned($0) },
            trace: head.headers["traceparent"].flatMap { CorrelationIdentifier.trace($0) })
    }
}

/// The ids that clients send to find their request in a log again.
enum CorrelationIdentifier {
    /// A `client-request-id` (ADAL, MSAL) that can be logged and returned: at most 64 letters, digits and `-._`.
    static func cleaned(_ value: String) -> String? {
        guard (1...64).contains(value.utf8.count), value.utf8.allSatisfy(isPlain) else { return nil }
        return value
    }

    /// The trace id of a `traceparent` of version 00 (W3C Trace Context section 3.2).
    static func trace(_ value: String) -> String? {
        let parts = value.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0] != "ff", parts[0].utf8.count == 2, parts[1].utf8.count == 32,
            parts[2].utf8.count == 16, parts[1].utf8.allSatisfy(isHex), parts[1].utf8.contains(where: { $0 != 0x30 })
        else { return nil }
        return String(parts[1])
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }
}
