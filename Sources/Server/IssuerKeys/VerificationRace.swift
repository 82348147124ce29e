import JSON
import Tokens

// The race between a verification and a refresh: a key is known, but not yet under every policy that publishes it.
//
// Metadata documents are loaded one after the other, and the keys of each are published at once, so that one which cannot
// be reached does not delay the others. Between two of them, a good token of the later policy looks like one of a wrong
// policy: right after a start, and after a rotation. Such a token waits for the refresh, or is answered "try again";
// it is never called invalid.
extension BearerVerifier {
    /// Whether a refusal is final: false if the keys of the policy that the token names may not be up to date.
    func isAuthoritative(_ refusal: TokenRefusal, of token: CompactToken, by cache: KeyCache) async -> Bool {
        // The signature was verified before.
        guard refusal == .wrongPolicy || refusal == .wrongIssuer, let policy = (try? Claims(of: token))?.policy else {
            return true
        }
        return await cache.isUpToDate(policy: policy)
    }
}

extension Claims {
    /// The policy that the token names.
    var policy: String? { self["tfp"]?.string ?? self["acr"]?.string }
}
