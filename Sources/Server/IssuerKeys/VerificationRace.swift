import JSON
import Tokens

// The race between a verification and a refresh: a key is known, but not yet under every policy that publishes it.
//
// Metadata documents are loaded one after the other, and the keys of each are published at once, so that a document
// that cannot be reached does not delay the others. Between two loads, right after a start or a rotation, a good token
// of the later policy looks like one of a wrong policy. Such a token waits for the refresh, or is answered "try again";
// it is never called invalid.
extension BearerVerifier {
    /// Returns the policy that a refused token names, if its keys may not be up to date; nil if the refusal is final.
    func doubtfulPolicy(_ refusal: TokenRefusal, of token: CompactToken) -> String? {
        guard refusal == .wrongPolicy || refusal == .wrongIssuer else { return nil }
        // The signature was verified before.
        return (try? Claims(of: token))?.policy
    }
}

extension Claims {
    /// The policy that the token names.
    var policy: String? { self["tfp"]?.string ?? self["acr"]?.string }
}
