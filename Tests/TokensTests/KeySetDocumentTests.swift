import Basics
import JSON
import OpenSSL
import Support
import Testing
import Tokens

@Suite("The keys of a set are admitted one by one (V-35 to V-38)", .timeLimit(.minutes(15)))
struct KeySetDocumentTests {
    private static let modulus = SigningKey.shared.modulus

    private func jwk(_ name: String = "kid", _ value: JSONValue? = "a") -> JSONValue {
        let good: JSONObject = [
            "kid": "a", "nbf": 1_493_763_266, "use": "sig", "kty": "RSA", "e": "AQAB",
            "n": .string(Base64URL.encode(Self.modulus)),
        ]
        return .object(good.with(name, value))
    }

    private func document(_ keys: [JSONValue]) throws -> KeySetDocument {
        try KeySetDocument(parsing: JSONValue.object(["keys": .array(keys)]).serialized())
    }

    @Test("A key as B2C publishes it is admitted (V-36)")
    func aKeyAsB2CPublishesIt() throws {
        let set = try document([jwk()])
        #expect(set.rejected.isEmpty)
        let key = try #require(set.keys.first)
        #expect(key.keyIdentifier == "a")
        #expect(key.modulus == Self.modulus)
        #expect(key.exponent == [1, 0, 1])
        #expect(!key.carriesPrivateMembers)
    }

    @Test("Informative members of a key do not decide (V-36, V-40)")
    func informativeMembersDoNotDecide() throws {
        for (name, value) in [("nbf", nil), ("nbf", .integer(.max)), ("x5c", ["AAAA"]), ("x5t", 1)]
            as [(String, JSONValue?)]
        {
            #expect(try document([jwk(name, value)]).keys.count == 1)
        }
        for (name, value) in [
            ("use", nil), ("alg", "RS256"), ("key_ops", ["verify"]), ("key_ops", ["sign", "verify"]), ("e", "Aw"),
        ] as [(String, JSONValue?)] {
            #expect(try document([jwk(name, value)]).keys.count == 1)
        }
    }

    @Test(
        "A bad key is skipped, and the others are used (V-36, V-38)",
        arguments: [
            ("kty", nil, .wrongKeyType), ("kty", "oct", .wrongKeyType), ("kty", "EC", .wrongKeyType),
            ("kty", "rsa", .wrongKeyType), ("kid", nil, .missingIdentifier), ("kid", "", .missingIdentifier),
            ("kid", 1, .missingIdentifier), ("use", "enc", .notForSignatures), ("use", .null, .notForSignatures),
            ("key_ops", [], .notForVerifying), ("key_ops", "verify", .notForVerifying),
            ("key_ops", ["sign"], .notForVerifying), ("alg", "RS512", .wrongAlgorithm), ("alg", .null, .wrongAlgorithm),
            ("n", nil, .malformedModulus), ("n", "", .malformedModulus), ("n", "AQAB", .modulusSize),
            ("n", "!!!!", .malformedModulus), ("n", 65537, .malformedModulus), ("e", nil, .malformedExponent),
            ("e", "", .malformedExponent), ("e", "AAEAAQ", .malformedExponent), ("e", "AQAB=", .malformedExponent),
            ("e", "AR", .malformedExponent), ("e", "AQ", .weakExponent), ("e", "Ag", .weakExponent),
            ("e", "BA", .weakExponent), ("e", "AQAAAAE", .weakExponent), ("e", "AA", .malformedExponent),
        ] as [(String, JSONValue?, KeyRejection)])
    func badKeysAreSkipped(name: String, value: JSONValue?, reason: KeyRejection) throws {
        let set = try document([jwk(name, value), jwk("kid", "good")])
        #expect(set.rejected.map(\.reason) == [reason])
        #expect(set.keys.map(\.keyIdentifier) == ["good"])
        #expect(!reason.message.isEmpty)
    }

    @Test("The modulus is checked (V-37)")
    func modulusIsChecked() throws {
        let cases: [([UInt8], KeyRejection)] = [
            ([0] + Self.modulus, .malformedModulus), (SigningKey.made(bits: 1024).modulus, .modulusSize),
            ([0x7F] + Self.modulus.dropFirst(), .modulusSize), (Self.modulus.dropLast() + [2], .evenModulus),
            ([1] + [UInt8](repeating: 0xFF, count: 1024), .modulusSize),
        ]
        for (modulus, reason) in cases {
            #expect(try document([jwk("n", .string(Base64URL.encode(modulus)))]).rejected.map(\.reason) == [reason])
        }
        let largest = [UInt8](repeating: 0xFF, count: 1024)
        #expect(try document([jwk("n", .string(Base64URL.encode(largest)))]).keys.count == 1)
    }

    @Test("Entries that are not objects are skipped (V-36)")
    func entriesThatAreNoObjects() throws {
        let set = try document([1, "a", [], .null, jwk()])
        #expect(set.rejected.map(\.reason) == [.notAnObject, .notAnObject, .notAnObject, .notAnObject])
        #expect(set.keys.count == 1)
    }

    @Test("Two keys with one kid are both dropped (V-38)")
    func oneIdentifierForTwoKeysDropsBoth() throws {
        let other = jwk("n", .string(Base64URL.encode(SigningKey.other.modulus)))
        let set = try document([jwk(), other, jwk("kid", "b"), jwk()])
        #expect(set.keys.map(\.keyIdentifier) == ["b"])
        #expect(set.rejected.map(\.reason) == [.conflictingIdentifier, .conflictingIdentifier, .conflictingIdentifier])
        #expect(set.rejected.allSatisfy { $0.keyIdentifier == "a" })
    }

    @Test("The same key twice is one key (V-38)")
    func theSameKeyTwiceIsOne() throws {
        let set = try document([jwk(), jwk("alg", "RS256")])
        #expect(set.keys.count == 1)
        #expect(set.rejected.isEmpty)
    }

    @Test("A composed and a decomposed letter are two identifiers (V-27)")
    func identifiersAreBytes() throws {
        let other = SigningKey.other.modulus
        let set = try document([
            jwk("kid", "\u{E9}"),
            .object([
                "kid": "e\u{301}", "kty": "RSA", "e": "AQAB", "n": .string(Base64URL.encode(other)),
            ]),
        ])
        #expect(set.keys.count == 2)
    }

    @Test("Private members are reported (V-37)")
    func privateMembersAreReported() throws {
        #expect(try document([jwk("d", "AQAB")]).keys.first?.carriesPrivateMembers == true)
    }

    @Test(
        "A document that is not one strict JSON object is refused (V-20)",
        arguments: ["", "[]", "null", "{", #"{"keys":[],"keys":[]}"#, "\u{FEFF}{\"keys\":[]}"])
    func noDocument(text: String) {
        #expect(throws: KeySetError.notJSON) { try KeySetDocument(parsing: Array(text.utf8)) }
    }

    @Test("The number of keys and the length of the document are limited")
    func limits() throws {
        #expect(throws: KeySetError.noKeyList) { try KeySetDocument(parsing: Array("{}".utf8)) }
        #expect(throws: KeySetError.noKeyList) { try KeySetDocument(parsing: Array(#"{"keys":{}}"#.utf8)) }
        #expect(throws: KeySetError.tooManyKeys(65)) { try document([JSONValue](repeating: jwk(), count: 65)) }
        #expect(try document([]).keys.isEmpty)
        let long = Array(#"{"keys":[]}"#.utf8) + [UInt8](repeating: 0x20, count: KeySetDocument.longest)
        #expect(throws: KeySetError.notJSON) { try KeySetDocument(parsing: long) }
    }
}
