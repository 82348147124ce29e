import Basics
import JSON
import OpenSSL
import Support
@testable import Tokens

/// A token; or, from a `{`, a header and on the next line a payload, which are put into one.
func checkTokens(_ input: [UInt8]) throws {
    try checkBase64URL(input)
    let bytes = input.first == UInt8(ascii: "{") ? assembled(input) : input
    try checkExplanation(bytes.text)
    guard let token = try? CompactToken(bytes: bytes) else { return }
    try checkForm(token, of: bytes)
    try checkSignature(token)
    for (rules, issuers) in settings { try checkClaims(token, rules, issuers) }
}

/// Three parts: mutations of JSON would be lost in base64url.
private func assembled(_ input: [UInt8]) -> [UInt8] {
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let payload = lines.count > 1 ? Array(lines[1]) : []
    return Array("\(Base64URL.encode(Array(lines[0]))).\(Base64URL.encode(payload)).c2lnbmF0dXJl".utf8)
}

/// Rules by which tokens are checked, the usual ones first.
private let settings: [(ClaimRules, [TokenIssuer])] = [
    (TestClaims.rules, TestClaims.issuers),
    (
        ClaimRules(audiences: [TestClaims.audience], ownerClaim: OwnerClaim("sub"), clockSkew: 0),
        [TokenIssuer(identifier: TestClaims.issuer, policy: nil)]
    ),
    (manyTenants, [TokenIssuer(identifier: "https://contoso.b2clogin.com/{tenantid}/v2.0/", policy: nil)]),
]

/// Every rule that the first ones leave out.
private let manyTenants = {
    var rules = ClaimRules(audiences: [TestClaims.audience], ownerClaim: .tenantAndObject)
    rules.owner.prefix = "ext:"
    rules.audience.match = .any
    rules.scopes.claim = .automatic
    rules.kind = .access
    rules.isMicrosoft = true
    rules.tenants = AllowedTenants(listed: [], isAny: true)
    return rules
}()

private func checkBase64URL(_ input: [UInt8]) throws {
    if let bytes = Base64URL.decode(input.span) {
        try require(Base64URL.encode(bytes).utf8.elementsEqual(input), "base64url has one spelling")
    }
    try require(Base64URL.decode(Base64URL.encode(input)) == input, "what is encoded can be decoded")
}

private func checkForm(_ token: CompactToken, of bytes: [UInt8]) throws {
    try require(token.bytes == bytes && bytes.count <= CompactToken.longest, "a token is its bytes")
    let signed = "\(Base64URL.encode(token.header)).\(Base64URL.encode(token.payload))"
    try require(token.signingInput.elementsEqual(signed.utf8), "a signature covers header and payload as they came")
    let whole = "\(signed).\(Base64URL.encode(token.signature))"
    try require(whole.utf8.elementsEqual(bytes), "a token has one spelling")
}

private func checkExplanation(_ text: String) throws {
    let accepted = TestClaims.rules.accepted(from: TestClaims.issuers)
    let explanation = TokenExplanation(
        of: text, .failure(.unknownKey), header: [(["alg"], ["RS256"])], claims: accepted)
    for member in explanation.header + explanation.claims {
        let shown = (member.name + (member.value ?? "")).utf8
        try require(shown.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "no text of a token controls a terminal")
    }
}

/// The token of RFC 7520 section 4.1, the only one that its key signed.
private func checkSignature(_ token: CompactToken) throws {
    guard let published = PublishedSignature.shared, token.signature.count == published.key.signatureLength else {
        return
    }
    guard published.key.verifies(signature: token.signature, of: token.signingInput) else { return }
    try require(token.bytes == published.token, "a signature is good for one token only")
}

private struct PublishedSignature {
    let key: PublicKey
    let token: [UInt8]

    static let shared = try? PublishedSignature()

    private init() throws {
        let vector = try TestFile.vector("rfc7520_4_1_rs256.json").json()
        let jwk = vector["input"]["key"]
        key = try PublicKey(
            .rsa(
                modulus: Base64URL.decode(jwk["n"].string ?? "") ?? [],
                exponent: Base64URL.decode(jwk["e"].string ?? "") ?? []), for: .rs256)
        token = Array((vector["output"]["compact"].string ?? "").utf8)
    }
}

/// What passes has what the rules ask for.
private func checkClaims(_ token: CompactToken, _ rules: ClaimRules, _ issuers: [TokenIssuer]) throws {
    let verified: VerifiedToken
    do throws(TokenRefusal) {
        _ = try JOSEHeader(of: token)
        verified = try rules.check(Claims(of: token), of: issuers, now: TestClaims.now)
    } catch {
        return
    }
    try checkAccepted(token, verified, rules)
}

private func checkAccepted(_ token: CompactToken, _ verified: VerifiedToken, _ rules: ClaimRules) throws {
    let header = try JSONValue(parsing: token.header)
    let claims = try JSONValue(parsing: token.payload)
    let isSignature = SignatureAlgorithm.allCases.contains { header["alg"] == .string($0.rawValue) }
    try require(isSignature, "the algorithm is a signature")
    let critical = ["crit", "b64", "zip", "enc"].contains { header.object?.contains($0) ?? false }
    try require(!critical, "no extension is asked for")
    try checkIssuer(claims, rules)
    let audiences = claims["aud"].string.map { [$0] } ?? claims["aud"].array?.compactMap(\.string) ?? []
    try require(audiences.contains(TestClaims.audience), "the audience is ours")
    try require(audiences.count == 1 || rules.audience.match == .any, "the audience is ours alone")
    let expiry: Double? =
        switch claims["exp"] {
        case .integer(let seconds): Double(seconds)
        case .real(let seconds): seconds
        case .null, .boolean, .string, .array, .object: nil
        }
    try require(Double(TestClaims.now - rules.clockSkew) < expiry ?? 0, "the token is not over")
    let owner = rules.owner.claim.names.compactMap { claims[$0].string }.joined(separator: "+")
    try require(!owner.isEmpty, "the token has an owner")
    let named = rules.owner.prefix + owner
    try require(verified.principal.owner.lowercased() == named.lowercased(), "the owner is the claim's")
    try require(verified.isUsable(at: TestClaims.now), "what is accepted now is usable now")
}

private func checkIssuer(_ claims: JSONValue, _ rules: ClaimRules) throws {
    guard rules.tenants != nil else {
        return try require(claims["iss"].string == TestClaims.issuer, "the issuer is ours")
    }
    let tenant = claims["tid"].string?.lowercased() ?? ""
    try require(claims["iss"].string == "https://contoso.b2clogin.com/\(tenant)/v2.0/", "the issuer is the tenant's")
    try require(tenant != IssuerTenant.personalAccounts, "personal accounts are not any tenant")
}
