@testable import IssuerKeys
import JSON
import Support
import Testing
import Tokens

@Suite("Documents of real providers are taken, or refused with a reason")
struct RecordedProviderTests {
    @Test(arguments: RecordedTrial.all)
    func `Each is taken or refused as it is known to be`(trial: RecordedTrial) throws {
        let report = try trial.report()
        #expect((report.problem == nil) == trial.isTaken, "\(report.problem ?? "taken")")
        #expect(report.keys.isEmpty == !trial.isTaken)
    }

    @Test func `Every recorded provider is tried`() throws {
        let names = try Set(RecordedProvider.all().map(\.name))
        #expect(names == Set(RecordedTrial.all.map(\.provider)) && names.count >= 15)
    }

    @Test func `Keys for encryption are not called signature algorithms (P-9)`() throws {
        let encryption = try RecordedProvider.named("Keycloak").keys.compactMap(\.object).filter {
            $0["use"]?.string == "enc"
        }
        let agreement = try RecordedProvider.named("PayPal").keys.filter { $0["crv"].string == "X25519" }
        #expect(encryption.count == 1 && agreement.count == 1)
        let keys =
            try encryption.map { JSONValue.object($0.with("alg", nil)) } + agreement
            + RecordedProvider.named("Supabase").keys
        let document = JSONValue.object(["keys": .array(keys)]).serialized()
        #expect(try KeySetDocument(parsing: document).algorithms == ["ES256"])
    }

    @Test(
        "A set without a usable key is refused with the reason that helps (P-9)",
        arguments: [
            (["alg": "ES256"], "its alg is none that the server verifies with its kty and crv (alg ES256, kty RSA)"),
            (["use": "enc"], "its use is not sig"),
            (["key_ops": ["encrypt"]], "its key_ops do not contain verify"),
            (["kty": "EC", "crv": "P-384", "alg": "ES256"], "(alg ES256, kty EC, crv P-384)"),
            (["kty": "OKP", "crv": "Ed448", "alg": "EdDSA"], "provider signs with EdDSA with Ed448 only; let it sign"),
            (["alg": "RS512", "kty": "oct"], "its kty and crv are not RSA, EC with"),
            (["kty": "EC", "crv": "P-521", "alg": "ES512"], "provider signs with ES512 only; let it sign with RS256"),
        ] as [([String: JSONValue], String)])
    func unusable(members: [String: JSONValue], reason: String) throws {
        let recorded = try RecordedProvider.named("Entra ID, one tenant")
        let keys = recorded.keys.compactMap(\.object).map { key in
            JSONValue.object(members.reduce(key.with("use", nil).with("alg", nil)) { $0.with($1.key, $1.value) })
        }
        let fake = FakeProvider()
        recorded.publish(to: fake, keys: keys)
        let source = TokenSource(
            documents: [MetadataDocument(metadataURL: recorded.address, pinnedIssuer: nil)], rules: TestClaims.rules)
        let report = try #require(IssuerKeysConfiguration(sources: [source]).check(fetcher: fake).first)
        #expect(report.problem?.contains(reason) == true, "\(report.problem ?? "taken")")
    }

    @Test func `Recorded/README.md says what the server says of each`() throws {
        let document = try String(decoding: TestFile("README.md").bytes(), as: UTF8.self)
        let written = document.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2).map(String.init)
        let rows = try RecordedTrial.all.map { try $0.row() }
        let isSame = written == rows
        #expect(isSame, "write this table:\n\(rows.joined(separator: "\n"))")
    }
}
