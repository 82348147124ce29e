import HTTP
import Tokens

/// What a log may show of a token that was refused (V-132).
struct RefusedToken: Sendable {
    let keyIdentifier: String?
    let fingerprint: String?

    /// Of the token that this request presents, if it presents one that could be read.
    init?(of head: RequestHead, allowQuery: Bool, fingerprint: (String) -> String?) {
        guard case .token(let token) = BearerCredentials(of: head, allowQuery: allowQuery) else { return nil }
        keyIdentifier = Self.keyIdentifier(of: token)
        self.fingerprint = fingerprint(token)
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
