import Basics
import JSON
import OpenSSL
import Support
import Testing
import Tokens

@Suite("The header of a token is checked (V-20 to V-28)", .timeLimit(.minutes(15)))
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

    @Test("Good headers are accepted (V-20)")
    func goodHeadersPass() throws {
        #expect(refusal(#"{"alg":"RS256","kid":"a"}"#) == nil)
        #expect(refusal(" {\n\t\"kid\" : \"a\" ,\r\n \"alg\" : \"RS256\" } ") == nil)
        #expect(try JOSEHeader(of: CompactToken(makeToken())).keyIdentifier == TestClaims.keyIdentifier)
    }

    @Test(
        "The header is one strict JSON object (V-20)",
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

    @Test("The header is UTF-8 (V-20)")
    func notUTF8() {
        #expect(refusal(Array(#"{"alg":"RS256","kid":""#.utf8) + [0xFF] + Array(#""}"#.utf8)) == .headerNotJSON)
        #expect(refusal(Array(#"{"alg":"RS256","kid":"a"}"#.utf8).flatMap { [$0, 0] }) == .headerNotJSON)
    }

    @Test("The number of members is limited (V-20)")
    func tooManyMembers() {
        let members = (0..<255).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(refusal(#"{"alg":"RS256",\#(members)}"#) == .missingKeyIdentifier)
        #expect(refusal(#"{"alg":"RS256","kid":"a",\#(members)}"#) == .headerNotJSON)
    }

    @Test(
        "Only RS256 is accepted (V-21, V-22)",
        arguments: [
            "none", "None", "HS256", "rs256", "RS256 ", "RS384", "RS512", "PS256", "ES256", "EdDSA", "", "RS256\0",
        ])
    func otherAlgorithms(name: String) {
        #expect(refusal(with: "alg", .string(name)) == .wrongAlgorithm)
    }

    @Test("The member alg is a string (V-21)")
    func algorithmMustBeAString() {
        #expect(refusal(with: "alg", nil) == .wrongAlgorithm)
        #expect(refusal(with: "alg", .null) == .wrongAlgorithm)
        #expect(refusal(with: "alg", ["RS256"]) == .wrongAlgorithm)
        #expect(refusal(with: "alg", 256) == .wrongAlgorithm)
    }

    @Test(
        "Known types are accepted (V-24)",
        arguments: ["JWT", "jwt", "at+jwt", "AT+JWT", "application/jwt", "Application/AT+JWT"])
    func knownTypes(name: String) {
        #expect(refusal(with: "typ", .string(name)) == nil)
    }

    @Test(
        "Other types are refused (V-24)",
        arguments: [
            "JWE", "", "application/", "logout+jwt", "dpop+jwt", "application/application/jwt", "JWT ", 1, .null,
            ["JWT"],
        ] as [JSONValue])
    func otherTypes(type: JSONValue) {
        #expect(refusal(with: "typ", type) == .wrongType)
    }

    @Test(
        "The member crit is refused in any form (V-25)",
        arguments: [["exp"], [], "exp", .null, false] as [JSONValue])
    func critical(value: JSONValue) {
        #expect(refusal(with: "crit", value) == .criticalExtension)
    }

    @Test(
        "Detached, compressed, encrypted and nested tokens are refused (V-26)",
        arguments: [
            ("b64", false), ("b64", true), ("zip", "DEF"), ("enc", "A128GCM"), ("enc", .null), ("cty", "JWT"),
            ("cty", "application/jwt"), ("cty", 1),
        ] as [(String, JSONValue)])
    func unsupported(name: String, value: JSONValue) {
        #expect(refusal(with: name, value) == .unsupportedHeader)
    }

    @Test(
        "The member kid is a string of 1 to 256 bytes (V-27)",
        arguments: [
            nil, .null, "", 1, ["key-1"], .string(String(repeating: "k", count: 257)),
            .string(String(repeating: "\u{E9}", count: 129)),
        ] as [JSONValue?])
    func keyIdentifier(value: JSONValue?) {
        #expect(refusal(with: "kid", value) == .missingKeyIdentifier)
    }

    @Test("A kid of 256 bytes is accepted (V-27)")
    func longestKeyIdentifierPasses() {
        #expect(refusal(with: "kid", .string(String(repeating: "k", count: 256))) == nil)
    }

    @Test("Keys in the token decide nothing (V-23)")
    func keysInTheTokenAreIgnored() throws {
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
