import JSON
import Tokens

// The race between a verification and a refresh: a key is known, but not yet under every policy that publishes it.
//
// Metadata documents are loaded one after the other, and the keys of each are published at once, so that one which cannot
// be reached does not delay the others. Between two of them, a good token of the later policy looks like one of a wrong
// policy: right after a start, and after a rotation. Such a token waits for the refresh, or is answered "try again";
// it is never called invalid.
extension BearerVerifier {
    /// The policy that a refused token names, if its keys may not be up to date; nothing if the refusal is final.
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
