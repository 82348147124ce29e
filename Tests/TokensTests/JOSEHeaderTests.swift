import Basics
import JSON
import OpenSSL
import Support
import Testing
import Tokens

@Suite("The header (V-20 to V-28)")
struct JOSEHeaderTests {
    private func refusal(_ header: String) -> TokenRefusal? {
        refusal(Array(header.utf8))
    }

    private func refusal(_ header: [UInt8]) -> TokenRefusal? {
        do throws(TokenRefusal) {
            _ = try JOSEHeader(of: CompactToken("\(Base64URL.encode(header)).Zg.Zg"))
            return nil
        } catch {
            return error
        }
    }

    private func refusal(with name: String, _ value: JSONValue?) -> TokenRefusal? {
        refusal(JSONValue.object(TestClaims.header.with(name, value)).serialized())
    }

    @Test func goodHeadersPass() throws {
        #expect(refusal(#"{"alg":"RS256","kid":"a"}"#) == nil)
        #expect(refusal(" {\n\t\"kid\" : \"a\" ,\r\n \"alg\" : \"RS256\" } ") == nil)
        #expect(try JOSEHeader(of: CompactToken(makeToken())).keyIdentifier == TestClaims.keyIdentifier)
    }

    @Test(
        "V-20: one strict JSON object",
        arguments: [
            "", "null", "[]", "\"RS256\"", "{", #"{"alg":"RS256","kid":"a"}x"#, #"{"alg":"RS256","kid":"a",}"#,
            #"{"alg":"RS256","kid":"a"}{}"#, "\u{FEFF}{\"alg\":\"RS256\",\"kid\":\"a\"}",
            #"{"alg":"RS256","kid":"a"/**/}"#, #"{"alg":"RS256","alg":"RS256","kid":"a"}"#,
            #"{"alg":"RS256","\u0061lg":"none","kid":"a"}"#, #"{"alg":"none","alg":"RS256","kid":"a"}"#,
            #"{'alg':'RS256','kid':'a'}"#, #"{"alg":"RS256","kid":"\ud800"}"#,
            #"{"alg":"RS256","kid":"a","x":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}"#,
        ])
    func notStrictJSON(header: String) {
        // Empty text has no segment at all.
        #expect(refusal(header) == (header.isEmpty ? .notThreeSegments : .headerNotJSON))
    }

    @Test func notUTF8() {
        #expect(refusal(Array(#"{"alg":"RS256","kid":""#.utf8) + [0xFF] + Array(#""}"#.utf8)) == .headerNotJSON)
        #expect(refusal(Array(#"{"alg":"RS256","kid":"a"}"#.utf8).flatMap { [$0, 0] }) == .headerNotJSON)
    }

    @Test func tooManyMembers() {
        let members = (0..<255).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(refusal(#"{"alg":"RS256",\#(members)}"#) == .missingKeyIdentifier)
        #expect(refusal(#"{"alg":"RS256","kid":"a",\#(members)}"#) == .headerNotJSON)
    }

    @Test(
        "V-21, V-22: only RS256",
        arguments: [
            "none", "None", "HS256", "rs256", "RS256 ", "RS384", "RS512", "PS256", "ES256", "EdDSA", "", "RS256\0",
        ])
    func otherAlgorithms(name: String) {
        #expect(refusal(with: "alg", .string(name)) == .wrongAlgorithm)
    }

    @Test func algorithmMustBeAString() {
        #expect(refusal(with: "alg", nil) == .wrongAlgorithm)
        #expect(refusal(with: "alg", .null) == .wrongAlgorithm)
        #expect(refusal(with: "alg", ["RS256"]) == .wrongAlgorithm)
        #expect(refusal(with: "alg", 256) == .wrongAlgorithm)
    }

    @Test("V-24: known types", arguments: ["JWT", "jwt", "at+jwt", "AT+JWT", "application/jwt", "Application/AT+JWT"])
    func knownTypes(name: String) {
        #expect(refusal(with: "typ", .string(name)) == nil)
    }

    @Test(
        "V-24: other types",
        arguments: [
            "JWE", "", "application/", "logout+jwt", "dpop+jwt", "application/application/jwt", "JWT ", 1, .null,
            ["JWT"],
        ] as [JSONValue])
    func otherTypes(type: JSONValue) {
        #expect(refusal(with: "typ", type) == .wrongType)
    }

    @Test("V-25: crit in any form", arguments: [["exp"], [], "exp", .null, false] as [JSONValue])
    func critical(value: JSONValue) {
        #expect(refusal(with: "crit", value) == .criticalExtension)
    }

    @Test(
        "V-26: detached, compressed, encrypted, nested",
        arguments: [
            ("b64", false), ("b64", true), ("zip", "DEF"), ("enc", "A128GCM"), ("enc", .null), ("cty", "JWT"),
            ("cty", "application/jwt"), ("cty", 1),
        ] as [(String, JSONValue)])
    func unsupported(name: String, value: JSONValue) {
        #expect(refusal(with: name, value) == .unsupportedHeader)
    }

    @Test(
        "V-27: kid is a string of 1 to 256 bytes",
        arguments: [
            nil, .null, "", 1, ["key-1"], .string(String(repeating: "k", count: 257)),
            .string(String(repeating: "\u{E9}", count: 129)),
        ] as [JSONValue?])
    func keyIdentifier(value: JSONValue?) {
        #expect(refusal(with: "kid", value) == .missingKeyIdentifier)
    }

    @Test func longestKeyIdentifierPasses() {
        #expect(refusal(with: "kid", .string(String(repeating: "k", count: 256))) == nil)
    }

    /// V-23: keys that the token brings along decide nothing.
    @Test func keysInTheTokenAreIgnored() throws {
        var header = TestClaims.header
        header["jwk"] = ["kty": "RSA", "n": .string(Base64URL.encode(SigningKey.other.modulus)), "e": "AQAB"]
        for name in ["jku", "x5u", "x5c", "x5t", "x5t#S256"] {
            header[name] = "https://evil.example/keys"
        }
        let verification = try Verification()
        #expect(verification.refusal(of: makeToken(header: header, key: SigningKey.other)) == .badSignature)
        #expect(verification.refusal(of: makeToken(header: header)) == nil)
    }
}
