import Basics
package import HTTP
import JSON
import Platform
import Synchronization
import Tasks
import Tokens

/// The checks before the handler of a protected route: credentials, principal, scope and rate.
struct BearerAuthentication: Sendable {
    private let verifier: any TokenVerifier
    private let allowQueryToken: Bool
    private let rate: RateLimiter?

    init(_ configuration: TaskAPIConfiguration) {
        verifier = configuration.verifier
        allowQueryToken = configuration.allowQueryToken
        rate = configuration.rateLimit.map { RateLimiter(perSecond: $0, time: configuration.time) }
    }

    /// What tokens are judged by now; see ``Tokens/TokenVerifier/generation``.
    var generation: UInt64 { verifier.generation }

    func token(of head: RequestHead) throws(APIFailure) -> ArraySlice<UInt8> {
        switch BearerCredentials(of: head, allowQuery: allowQueryToken) {
        case .none: throw .credentials(.missing)
        case .queryNotAllowed: throw .credentials(.inQuery)
        case .malformed: throw .credentials(.malformed)
        case .token(let token): return token
        }
    }

    /// Verifies a token, which may be cached, as far as possible without waiting.
    func verify(_ token: ArraySlice<UInt8>) throws(APIFailure) -> Verification {
        if let principal = verifier.cachedPrincipal(of: token) { return .verified(principal) }
        return try rethrowing(as: { failure($0, of: token) }) { () throws(TokenRefusal) in
            try verifier.beginVerifying(String(decoding: token, as: UTF8.self))
        }
    }

    /// Finishes the verification of a token, which may wait for keys.
    func principal(of token: ArraySlice<UInt8>, after rest: Verification.Rest) async throws(APIFailure) -> Principal {
        do throws(TokenRefusal) {
            return try await rest()
        } catch {
            throw failure(error, of: token)
        }
    }

    private func failure(_ refusal: TokenRefusal, of token: ArraySlice<UInt8>) -> APIFailure {
        BearerCredentials.isWellFormed(token) ? .credentials(.token(refusal)) : .credentials(.malformed)
    }

    /// Takes one of the person's requests, which the answer's fields count, and refuses the request if none was left.
    func admit(_ owner: Owner, _ request: APIRequest) throws(APIFailure) {
        guard let state = rate?.take(owner) else { return }
        request.rate = state
        if let seconds = state.secondsToWait { throw .credentials(.tooManyRequests(retryAfter: seconds)) }
    }

    /// Whether the token has the scope that its source requires for this kind of operation (V-59, P-12).
    func check(_ scope: Operation.Scope, of principal: Principal) throws(APIFailure) {
        let missing =
            switch scope {
            case .read: principal.missingScopes.read
            case .write: principal.missingScopes.write
            }
        if let missing { throw .credentials(.missingScope(missing)) }
    }
}

/// How a request presents its token (RFC 6750 section 2).
package enum BearerCredentials: Equatable, Sendable {
    /// There is no field `Authorization`, or it has another scheme (V-06).
    case none
    /// A token in a query, which the settings do not allow (V-02).
    case queryNotAllowed
    /// RFC 6750 does not allow the form: two tokens, two places, or bytes that no token has (V-03 to V-05).
    case malformed
    /// One token, whose bytes are looked at only if it is refused (``isWellFormed(_:)``).
    case token(ArraySlice<UInt8>)

    package init(of head: RequestHead, allowQuery: Bool) {
        let field: ArraySlice<UInt8>?
        switch head.headers.occurrence(of: "Authorization") {
        case .never: field = nil
        case .once(let value): field = value
        case .repeated:
            self = .malformed
            return
        }
        var queried: ArraySlice<UInt8>?
        for argument in head.target.query where argument.name.utf8.elementsEqual("access_token".utf8) {
            guard queried == nil else {
                self = .malformed
                return
            }
            queried = ArraySlice(argument.value.utf8)
        }
        switch (field, queried) {
        case (nil, nil): self = .none
        case (nil, let token?): self = allowQuery ? .token(token) : .queryNotAllowed
        case (let value?, nil): self = Self.read(value)
        case (let value?, .some): self = Self.read(value) == .none ? .none : .malformed
        }
    }

    private static func read(_ value: ArraySlice<UInt8>) -> BearerCredentials {
        let bytes = value.span
        guard let scheme = schemes.first(where: { bytes.beginsIgnoringCase($0) }) else { return .none }
        var start = scheme.utf8.count
        if start < bytes.count, !bytes[start].isBlank { return .none }
        while start < bytes.count, bytes[start] == UInt8(ascii: " ") { start += 1 }
        let token = value.dropFirst(start)
        return token.isEmpty ? .malformed : .token(token)
    }

    /// `OAuth` is the scheme's name in the drafts, to which NXOAuth2Client falls back (docs/internals/clients.md, "Credentials").
    private static let schemes = ["Bearer", "OAuth"]

    /// Whether the bytes are a `b64token` (RFC 6750 section 2.1).
    ///
    /// If they are not, the answer calls the request malformed, and not the token bad (V-04).
    package static func isWellFormed(_ token: ArraySlice<UInt8>) -> Bool {
        let letters = token.prefix { $0 != UInt8(ascii: "=") }
        return !letters.isEmpty && letters.allSatisfy { $0.isLetterOrDigit || "-._~+/".utf8.contains($0) }
            && token[letters.endIndex...].allSatisfy { $0 == UInt8(ascii: "=") }
    }
}

/// A token bucket for each person: this many requests a second, twice that at once.
///
/// The table is bounded: a new person has a full bucket, so full buckets are forgotten whenever the table has grown.
final class RateLimiter: Sendable {
    private struct Table {
        var buckets: [Owner: TokenBucket] = [:]
        var sweepAbove = 10_000
    }

    private let perSecond: Int
    private let time: any TimeSource
    private let table = Mutex(Table())

    init(perSecond: Int, time: any TimeSource) {
        self.perSecond = perSecond
        self.time = time
    }

    /// Takes one request from a person's bucket, if there is one.
    func take(_ person: Owner) -> RateState {
        let now = Int64(time.monotonicNanoseconds)
        return table.withLock { table in
            sweep(&table, now)
            var bucket = table.buckets[person] ?? fullBucket(now)
            let isTaken = bucket.take(now: now)
            table.buckets[person] = bucket
            let wait = Int((bucket.pause(now: now) + 999_999_999) / 1_000_000_000)
            return RateState(perSecond: perSecond, remaining: bucket.count, secondsToWait: isTaken ? nil : wait)
        }
    }

    var count: Int { table.withLock { $0.buckets.count } }

    private func fullBucket(_ now: Int64) -> TokenBucket {
        TokenBucket(capacity: 2 * perSecond, refill: 1_000_000_000 / Int64(perSecond), now: now)
    }

    private func sweep(_ table: inout Table, _ now: Int64) {
        guard table.buckets.count > table.sweepAbove else { return }
        table.buckets = table.buckets.filter { !$0.value.isFull(now: now) }
        table.sweepAbove = max(10_000, 2 * table.buckets.count)
    }
}

struct RateState: Sendable {
    let perSecond: Int
    /// The number of requests that the person may make at once.
    let remaining: Int
    /// How long the refused person has to wait; nil if the request was admitted.
    let secondsToWait: Int?

    /// The fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10).
    ///
    /// A full bucket has the requests of two seconds, so two seconds are the window of the policy.
    var fields: FieldLines {
        let quota = 2 * perSecond
        return [
            "RateLimit-Policy": "\"person\";q=\(quota);w=2",
            "RateLimit": "\"person\";r=\(remaining);t=\((quota - remaining + perSecond - 1) / perSecond)",
        ]
    }
}
