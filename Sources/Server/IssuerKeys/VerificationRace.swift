import JSON
import Tokens

// The race between a verification and a refresh: a key is known, but not yet under every policy that publishes it.
//
// Key sources are loaded one after the other, and the keys of each are published at once, so that one which cannot be
// reached does not delay the others. Between two of them, a good token of the later policy looks like one of a wrong
// policy: right after a start, and after a rotation. Such a token waits for the refresh, or is answered "try again";
// it is never called invalid.
extension BearerVerifier {
    /// Whether a refusal is final: false if the keys of the policy that the token names may not be up to date.
    func isAuthoritative(_ refusal: TokenRefusal, of token: CompactToken) async -> Bool {
        guard refusal == .wrongPolicy || refusal == .wrongIssuer, let policy = Self.claimedPolicy(of: token) else {
            return true
        }
        return await keys.isUpToDate(policy: policy)
    }

    /// The policy that the token names; its signature was verified before.
    private static func claimedPolicy(of token: CompactToken) -> String? {
        let claims = (try? JSONValue(parsing: token.payload))?.object
        return claims?["tfp"]?.string ?? claims?["acr"]?.string
    }
}
