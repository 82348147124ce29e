import JSON
import OpenSSL
import Support
import Tokens

/// The verification of a token as the server does it, with a set of keys in memory.
struct Verification {
    var keys: [String: PublicKey]
    var rules = TestClaims.rules
    var issuers = TestClaims.issuers
    var now = TestClaims.now

    init() throws {
        keys = [TestClaims.keyIdentifier: try SigningKey.shared.publicKey()]
    }

    init(_ set: KeySetDocument) throws {
        keys = [:]
        for key in set.keys {
            // OpenSSL refuses points beside the curve, and the server skips such keys (V-38).
            keys[key.keyIdentifier] = try? PublicKey(key.numbers, for: key.algorithm)
        }
    }

    /// Checks form, header, key and signature.
    func checkSignature(_ text: String) throws(TokenRefusal) -> (token: CompactToken, keyIdentifier: String) {
        let token = try CompactToken(text)
        let header = try JOSEHeader(of: token)
        guard let key = keys[header.keyIdentifier] else { throw .unknownKey }
        guard key.algorithm == header.algorithm else { throw .wrongAlgorithm }
        guard key.verifies(signature: token.signature, of: token.signingInput) else { throw .badSignature }
        return (token, header.keyIdentifier)
    }

    func verify(_ text: String) throws(TokenRefusal) -> VerifiedToken {
        try rules.check(Claims(of: checkSignature(text).token), of: issuers, now: now)
    }

    /// Why a token is refused; nothing for a good one.
    func refusal(of text: String) -> TokenRefusal? {
        thrown { () throws(TokenRefusal) in _ = try verify(text) }
    }

    /// Why good claims with one changed are refused; nothing if they are accepted.
    func refusal(with name: String, _ value: JSONValue?) -> TokenRefusal? {
        refusal(of: makeToken(claims: TestClaims.good.with(name, value)))
    }
}
