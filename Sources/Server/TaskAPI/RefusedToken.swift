package import Tokens
import HTTP

/// What a log may show of a token that was refused (V-132).
package struct RefusedToken: Sendable {
    /// `kid` of its header, at most 64 printable characters: names a public key.
    package let keyIdentifier: String?
    /// A digest of it, the same whenever it comes again; the token cannot be computed from it.
    package let fingerprint: String?
    /// The common mistake that it shows (P-33).
    package let mistake: CommonMistake?

    /// Of the token that this request presents, if it presents one that could be read.
    init?(of head: RequestHead, _ refusal: TokenRefusal, by description: Description) {
        let credentials = BearerCredentials(of: head, allowQuery: description.allowQueryToken)
        guard case .token(let bytes) = credentials else { return nil }
        let token = String(decoding: bytes, as: UTF8.self)
        keyIdentifier = Self.keyIdentifier(of: token)
        fingerprint = description.fingerprint(token)
        mistake = description.mistake(token, refusal)
    }

    /// What finds it out: the part of the settings that a record may keep, which is kept by the observer in turn.
    struct Description: Sendable {
        let allowQueryToken: Bool
        let fingerprint: @Sendable (_ token: String) -> String?
        let mistake: @Sendable (_ token: String, TokenRefusal) -> CommonMistake?
    }

    /// Whatever the sender wrote there, made harmless and short (V-28, V-131).
    private static func keyIdentifier(of token: String) -> String? {
        guard let header = try? JOSEHeader(of: CompactToken(token)) else { return nil }
        let printable = header.keyIdentifier.utf8.prefix(64).map {
            (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?")
        }
        return String(decoding: printable, as: UTF8.self)
    }
}

extension TaskAPIConfiguration {
    var refusedTokens: RefusedToken.Description {
        RefusedToken.Description(allowQueryToken: allowQueryToken, fingerprint: fingerprint, mistake: mistake)
    }
}
