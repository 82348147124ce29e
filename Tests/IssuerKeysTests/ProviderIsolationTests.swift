import Curl
import JSON
import Platform
import Support
import Testing
import Tokens

@testable import IssuerKeys

/// Owners are values of a claim, without the issuer: so all that is trusted must be of one provider.
@Suite("No provider can issue tokens for the owners of another")
struct ProviderIsolationTests {
    private static let document = ".well-known/openid-configuration"
    private static let neighbour = "https://contoso.b2clogin.com/00000000-1111-2222-3333-444444444444/v2.0/"

    /// Two documents whose addresses do not show that they are of two tenants.
    private let first = MetadataDocument(
        metadataURL: "https://contoso.b2clogin.com/contoso.com/b2c_1_sign_in/v2.0/\(document)")
    private let second = MetadataDocument(
        metadataURL: "https://contoso.b2clogin.com/contoso.com/b2c_1_edit/v2.0/\(document)")

    private func claims(of policy: String, issuer: String = TestClaims.issuer) -> JSONObject {
        TestClaims.good.with("tfp", .string(policy)).with("iss", .string(issuer)).with("sub", "1001")
    }

    /// A second provider, which gives its people the same values of `sub` and `oid`.
    private func foreign() -> String {
        makeToken(
            claims: claims(of: "b2c_1_edit", issuer: Self.neighbour), header: TestClaims.header.with("kid", "key-2"),
            key: SigningKey.other)
    }

    private func bench(_ sources: [MetadataDocument], ownerClaim: String = "oid") -> Bench {
        let bench = Bench(sources) { $0.rules.owner.claim = OwnerClaim(ownerClaim) }
        bench.provider.publish(
            sources[1], [published(SigningKey.other, kid: "key-2")], issuer: Self.neighbour)
        return bench
    }

    @Test(arguments: ["oid", "sub"])
    func `The owners of two providers are not mixed up, whichever claim names them`(claim: String) async throws {
        let bench = bench([first, second], ownerClaim: claim)
        bench.verifier.loadOnce()
        let good = makeToken(claims: claims(of: "b2c_1_sign_in"))
        #expect(await bench.refusal(good) == nil)
        #expect(await bench.refusalDuringRefresh(foreign()) != nil)
        #expect(bench.verifier.status.keyIdentifiers == [TestClaims.keyIdentifier])
        #expect(bench.verifier.status.isDegraded)
        #expect(bench.verifier.status.lastFailure?.contains("b2c_1_edit: the metadata names another issuer") == true)
    }

    @Test func `The tenant that is loaded first is trusted, and the other is tried again and refused again`() async {
        let bench = bench([first, second])
        bench.provider.set(first.metadataURL, .failure(.status(500)))
        bench.verifier.loadOnce()
        #expect(bench.verifier.status.keyIdentifiers == ["key-2"])
        bench.provider.publish(first, [published(SigningKey.shared)])
        for _ in 0..<3 {
            bench.time.advance(seconds: 5)
            bench.refresh()
            #expect(bench.verifier.status.keyIdentifiers == ["key-2"])
        }
    }

    @Test func `A document that changes its tenant is refused while another metadata document serves`() async {
        let bench = Bench([first, second])
        bench.verifier.loadOnce()
        #expect(!bench.verifier.status.isDegraded)
        bench.provider.publish(second, [published(SigningKey.other, kid: "key-2")], issuer: Self.neighbour)
        bench.time.advance(seconds: 3600)
        bench.refresh()
        #expect(bench.verifier.status.isDegraded)
        #expect(await bench.refusalDuringRefresh(foreign()) != nil)
    }

    @Test func `Policies of a configured authority may have issuers of any form, but not of two tenants`() {
        let sources = [policy(), policy("B2C_1_edit")]
        for (issuer, isDegraded) in [("https://contoso.b2clogin.com/edit/", false), (Self.neighbour, true)] {
            let bench = Bench(sources)
            bench.provider.publish(sources[1], [published(SigningKey.shared)], issuer: issuer)
            bench.verifier.loadOnce()
            #expect(bench.verifier.status.isDegraded == isDegraded)
        }
    }

    @Test func `Two documents given by address are of one tenant, and an issuer that names none is another`() async {
        let bench = Bench([first, second])
        bench.provider.publish(
            second, [published(SigningKey.other, kid: "key-2")], issuer: "https://contoso.b2clogin.com/")
        bench.verifier.loadOnce()
        #expect(bench.verifier.status.keyIdentifiers == [TestClaims.keyIdentifier])
        #expect(bench.verifier.status.lastFailure?.contains("another issuer than that of b2c_1_sign_in") == true)
    }

    @Test func `The key file does not add a second provider`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/keys"
        for (source, issuer, key) in [
            (first, TestClaims.issuer, "key-1"), (second, Self.neighbour, "key-2"),
        ] {
            // Each was written by a server that trusted only that.
            var configuration = IssuerKeysConfiguration(documents: [source], rules: TestClaims.rules)
            configuration.keyCacheFile = "\(path)-\(key)"
            let provider = FakeProvider()
            provider.publish(source, [published(SigningKey.shared, kid: key)], issuer: issuer)
            BearerVerifier(configuration, time: ManualClock(wallMilliseconds: TestClaims.now * 1000), fetcher: provider)
                .loadOnce()
        }
        let lists = try ["key-1", "key-2"].map { key in
            try JSONValue(parsing: File.read("\(path)-\(key)", limit: 1 << 20))["sources"].array ?? []
        }
        let document: JSONValue = ["version": 1, "sources": .array(lists.flatMap { $0 })]
        try File.replace(path, with: document.serialized(), mode: 0o600)
        let bench = Bench([first, second]) { $0.keyCacheFile = path }
        bench.verifier.keys.readFile()
        #expect(bench.verifier.status.keyIdentifiers == ["key-1"])
        #expect(
            bench.events.all.contains {
                if case .fileIgnored(let reason) = $0 { reason.contains("another issuer") } else { false }
            })
    }

    @Test func `Policies of one tenant are one provider, with one issuer or one each`() async {
        let bench = Bench([first, second])
        let tfp = "https://contoso.b2clogin.com/tfp/775527ff-9a37-4307-8b3d-cc311f58d925/b2c_1_edit/v2.0/"
        bench.provider.publish(second, [published(SigningKey.shared)], issuer: tfp)
        bench.verifier.loadOnce()
        #expect(!bench.verifier.status.isDegraded)
        #expect(await bench.refusal(makeToken(claims: claims(of: "b2c_1_sign_in"))) == nil)
        #expect(await bench.refusal(makeToken(claims: claims(of: "B2C_1_EDIT", issuer: tfp))) == nil)
        #expect(await bench.refusal(makeToken(claims: claims(of: "b2c_1_edit"))) == .wrongPolicy)
    }

    @Test func `The B2C policy in a metadata address is required of tokens (V-56)`() async {
        let bench = Bench.loaded([first])
        #expect(await bench.refusal(makeToken(claims: claims(of: "B2C_1_SIGN_IN"))) == nil)
        #expect(await bench.refusal(makeToken(claims: claims(of: "b2c_1_edit"))) == .wrongPolicy)
        #expect(await bench.refusal(makeToken(claims: TestClaims.good.with("tfp", nil))) == .missingPolicy)
        #expect(
            await bench.refusal(makeToken(claims: TestClaims.good.with("tfp", nil).with("acr", "b2c_1_edit")))
                == .wrongPolicy)
        let none = Bench.loaded([
            MetadataDocument(
                metadataURL: "https://contoso.b2clogin.com/\(Self.document)", pinnedIssuer: TestClaims.issuer)
        ])
        #expect(await none.refusal(makeToken(claims: claims(of: "b2c_1_sign_in"))) == .wrongPolicy)
        #expect(await none.refusal(makeToken(claims: TestClaims.good.with("tfp", nil))) == nil)
    }
}
