import JSON
import Tokens

// The race between a verification and a refresh: a key is known, but not yet under every policy that publishes it.
//
// The keys of each document are published at once, so that one that cannot be reached does not delay the others. Until
// the next is loaded, a good token of its policy looks like one of a wrong policy. Such a token waits for the refresh,
// or is answered "try again"; it is never called invalid.
extension BearerVerifier {
    /// The policy whose keys must be up to date before this refusal of a token is final; nil if it is final already.
    func policyToRefresh(before refusal: TokenRefusal, of token: PresentedToken) -> String? {
        guard refusal == .wrongPolicy || refusal == .wrongIssuer else { return nil }
        // The signature was verified before, so this is what the issuer says.
        return (try? Claims(of: token.compact))?.policy
    }
}

extension Claims {
    /// The policy that the token names.
    var policy: String? { self["tfp"]?.string ?? self["acr"]?.string }
}
