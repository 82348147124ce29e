package import Tokens
import Basics
import HTTP

/// The facts about a refused token that a log may show (V-132).
package struct RefusedToken: Sendable {
    /// The `kid` of the header, which names a public key, as at most 64 printable characters.
    package let keyIdentifier: String?
    /// A digest of the token, which is the same whenever the token comes again; the token cannot be computed from it.
    package let fingerprint: String?
    /// The common mistake that the token shows (P-33).
    package let mistake: CommonMistake?

    /// Examines the token that a request presents; nil if the request presents none.
    init?(
        of head: RequestHead, _ refusal: TokenRefusal, allowQuery: Bool,
        fingerprint: (_ token: String) -> String?, mistake: (_ token: String, TokenRefusal) -> CommonMistake?
    ) {
        let credentials = BearerCredentials(of: head, allowQuery: allowQuery)
        guard case .token(let bytes) = credentials else { return nil }
        let token = String(decoding: bytes, as: UTF8.self)
        keyIdentifier = Self.keyIdentifier(of: token)
        self.fingerprint = fingerprint(token)
        self.mistake = mistake(token, refusal)
    }

    /// Returns the `kid`, made short and harmless, whatever the sender wrote (V-28, V-131).
    private static func keyIdentifier(of token: String) -> String? {
        guard let header = try? JOSEHeader(of: CompactToken(token)) else { return nil }
        return header.keyIdentifier.printable(64)
    }
}
