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
    init?(of head: RequestHead, _ refusal: TokenRefusal, by configuration: TaskAPIConfiguration) {
        let credentials = BearerCredentials(of: head, allowQuery: configuration.allowQueryToken)
        guard case .token(let bytes) = credentials else { return nil }
        let token = String(decoding: bytes, as: UTF8.self)
        keyIdentifier = Self.keyIdentifier(of: token)
        fingerprint = configuration.fingerprint(token)
        mistake = configuration.mistake(token, refusal)
    }

    /// Whatever the sender wrote there, made harmless and short (V-28, V-131).
    private static func keyIdentifier(of token: String) -> String? {
        do throws(TokenRefusal) {
            let header = try JOSEHeader(of: CompactToken(token))
            let printable = header.keyIdentifier.utf8.prefix(64).map {
                (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?")
            }
            return String(decoding: printable, as: UTF8.self)
        } catch {
            return nil
        }
    }
}
