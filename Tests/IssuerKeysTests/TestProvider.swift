import JSON
import OpenSSL
import Support
import Tokens

@testable import IssuerKeys

/// A provider as a test needs it: a configured source, and what its tokens say.
struct TestProvider {
    static let tenant = "775527ff-9a37-4307-8b3d-cc311f58d925"
    static let otherTenant = "11111111-2222-3333-4444-555555555555"
    private static let third = SigningKey.made(bits: 2048)

    var source: TokenSource
    var issuer: String
    var audience: String
    var key: PrivateKey
    var keyIdentifier: String
    /// The members of the metadata besides issuer and `jwks_uri`.
    var metadata: JSONObject = [:]
    /// The claims in addition to those of every good token.
    var claims: JSONObject = [:]

    /// The B2C tenant of the settings without name.
    static let b2c = TestProvider(
        source: TokenSource(documents: [policy()], rules: TestClaims.rules), issuer: TestClaims.issuer,
        audience: TestClaims.audience, key: SigningKey.shared, keyIdentifier: TestClaims.keyIdentifier,
        claims: ["tfp": .string(TestClaims.policy)])

    /// External ID, by the name of the tenant: the issuer is known when the document is loaded.
    static func external(_ tenant: String = tenant) -> TestProvider {
        let base = "https://contoso.ciamlogin.com/\(tenant)"
        return TestProvider(
            source: TokenSource(
                name: "ext",
                documents: [MetadataDocument(authority: "https://contoso.ciamlogin.com/", policy: nil)],
                rules: ClaimRules(audiences: ["ext-app"])),
            issuer: "https://\(tenant).ciamlogin.com/\(tenant)/v2.0", audience: "ext-app", key: SigningKey.other,
            keyIdentifier: "key-2",
            metadata: [
                "authorization_endpoint": .string("\(base)/oauth2/v2.0/authorize"),
                "token_endpoint": .string("\(base)/oauth2/v2.0/token"),
            ])
    }

    /// Keycloak, whose administrator can put any value into any claim.
    static let keycloak = TestProvider(
        source: TokenSource(
            name: "work",
            documents: [
                MetadataDocument(metadataURL: "https://id.example.com/realms/a/.well-known/openid-configuration")
            ],
            rules: ClaimRules(audiences: ["work-app"])),
        issuer: "https://id.example.com/realms/a", audience: "work-app", key: third, keyIdentifier: "key-3")

    /// A token of this provider, or one that only claims to be: with the key or audience of another.
    func token(
        key signer: TestProvider? = nil, audience: String? = nil, _ change: (inout JSONObject) -> Void = { _ in }
    ) -> String {
        var claims = TestClaims.good.with("tfp", nil)
        for member in self.claims.members { claims[member.name] = member.value }
        claims["iss"] = .string(issuer)
        claims["aud"] = .string(audience ?? self.audience)
        change(&claims)
        let signer = signer ?? self
        return makeToken(
            claims: claims, header: TestClaims.header.with("kid", .string(signer.keyIdentifier)), key: signer.key)
    }

    func publish(_ keys: [JSONValue]? = nil, on provider: FakeProvider) {
        for document in source.documents {
            let keysURL = document.metadataURL + "/keys"
            let members: JSONObject = metadata.with("issuer", .string(issuer)).with("jwks_uri", .string(keysURL))
            provider.set(document.metadataURL, .object(members))
            provider.set(keysURL, ["keys": .array(keys ?? [published(key, kid: keyIdentifier)])])
        }
    }
}

extension Bench {
    /// A verifier of several sources over one fake network, in which no token waits for a key.
    init(_ providers: [TestProvider], _ change: (inout IssuerKeysConfiguration) -> Void = { _ in }) {
        self.init(IssuerKeysConfiguration(sources: providers.map(\.source)), change)
        for one in providers { one.publish(on: provider) }
    }

    /// A verifier that has loaded the keys of several sources.
    static func loaded(
        _ providers: [TestProvider], _ change: (inout IssuerKeysConfiguration) -> Void = { _ in }
    ) -> Bench {
        Bench(providers, change).loaded()
    }

    func owner(_ token: String) async throws -> String {
        try await verifier.principal(of: token).owner
    }
}
