import Basics
import JSON
import OpenSSL
import Support
import Testing
import Tokens

@Suite(
    "Published tokens and keys verify as published: RFC 7515, RFC 7520, Wycheproof (V-45 to V-47)",
)
struct SignatureVectorTests {
    private func set(_ keys: [JSONValue]) throws -> KeySetDocument {
        try KeySetDocument(parsing: JSONValue.object(["keys": .array(keys)]).serialized())
    }

    @Test func `The signature of RFC 7520 section 4.1 verifies; its payload is not JSON`() throws {
        let vector = try TestFile.vector("rfc7520_4_1_rs256.json").json()
        let keys = try set([vector["input"]["key"]])
        #expect(keys.keys.first?.carriesPrivateMembers == true)
        let text = try #require(vector["output"]["compact"].string)
        let (token, keyIdentifier) = try Verification(keys).checkSignature(text)
        #expect(keyIdentifier == "bilbo.baggins@hobbiton.example")
        #expect(String(decoding: token.payload, as: UTF8.self) == vector["input"]["payload"].string)
        #expect(Array(token.signingInput) == Array((vector["signing"]["sig-input"].string ?? "").utf8))
        #expect(try Verification(keys).refusal(of: text) == .payloadNotJSON)
    }

    @Test func `Wycheproof's signatures are accepted and refused as they should be (V-47)`() throws {
        var accepted = 0
        var refused = 0
        for group in try #require(TestFile.vector("json_web_signature_test.json").json()["testGroups"].array) {
            let keys = try set([group["public"].object == nil ? group["private"] : group["public"]])
            let verification = try Verification(keys)
            for vector in try #require(group["tests"].array) {
                let good = isGood(vector, verification)
                // A token without claims is useless, so an empty part is refused before anything else (V-10). Figure 20
                // is a token for PS384 under a key for PS256, of which the server knows PS256 only (V-21).
                let isUsual = vector["comment"] != "emptyPayload" && vector["comment"] != "Figure20"
                let expected = vector["result"] == "valid" && keys.keys.count == 1 && isUsual
                #expect(good == expected, "tcId \(vector["tcId"]), \(vector["comment"])")
                if good { accepted += 1 } else { refused += 1 }
            }
        }
        #expect(accepted > 5)
        #expect(refused > 300)
    }

    /// Among them are keys with an exponent of 1, of 1024 bits, and with the structure of ROCA.
    @Test func `Wycheproof's keys are accepted and refused as they should be (V-37)`() throws {
        for group in try #require(TestFile.vector("json_web_key_test.json").json()["testGroups"].array) {
            let keys = try #require(group["private"]["keys"].array)
            let verification = try Verification(set(keys))
            let isKnown = keys.contains { $0["alg"].string.flatMap { SignatureAlgorithm(named: $0) } != nil }
            for vector in try #require(group["tests"].array) {
                let expected = vector["result"] == "valid" && isKnown
                #expect(isGood(vector, verification) == expected, "tcId \(vector["tcId"]), \(vector["comment"])")
            }
        }
    }

    private func isGood(_ vector: JSONValue, _ verification: Verification) -> Bool {
        // Some vectors are JSON serializations, which are not strings here.
        guard let text = vector["jws"].string else { return false }
        return (try? verification.checkSignature(text)) != nil
    }
}
