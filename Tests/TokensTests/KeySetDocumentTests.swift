import Basics
import JSON
import OpenSSL
import Support
import Testing
import Tokens

@Suite("The keys of a set are admitted one by one (V-35 to V-38)")
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

    @Test func `A key as B2C publishes it is admitted (V-36)`() throws {
        let set = try document([jwk()])
        #expect(set.rejected.isEmpty)
        let key = try #require(set.keys.first)
        #expect(key.keyIdentifier == "a")
        #expect(key.numbers == .rsa(modulus: Self.modulus, exponent: [1, 0, 1]) && key.algorithm == .rs256)
        #expect(!key.carriesPrivateMembers)
    }

    @Test func `Informative members of a key do not decide (V-36, V-40)`() throws {
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

    @Test func `The message about a bad key names its alg, kty and crv`() throws {
        let keys: [JSONValue] = [
            jwk("alg", "RSA-OAEP"), ["kty": "OKP", "crv": "X25519", "alg": "ECDH-ES\n"], ["kid": "a"],
        ]
        let set = try KeySetDocument(parsing: JSONValue.object(["keys": .array(keys)]).serialized())
        let ends = ["(alg RSA-OAEP, kty RSA)", "(alg ECDH-ES?, kty OKP, crv X25519)", "OKP with Ed25519"]
        #expect(zip(set.rejected, ends).allSatisfy { $0.message.hasSuffix($1) }, "\(set.rejected.map(\.message))")
    }

    @Test(
        "A bad key is skipped, and the others are used (V-36, V-38)",
        arguments: [
            ("kty", nil, .wrongKeyType), ("kty", "oct", .wrongKeyType), ("kty", "EC", .wrongKeyType),
            ("kty", "rsa", .wrongKeyType), ("kid", nil, .missingIdentifier), ("kid", "", .missingIdentifier),
            ("kid", 1, .missingIdentifier), ("use", "enc", .notForSignatures), ("use", .null, .notForSignatures),
            ("key_ops", [], .notForVerifying), ("key_ops", "verify", .notForVerifying),
            ("key_ops", ["sign"], .notForVerifying), ("alg", "PS512", .wrongAlgorithm), ("alg", .null, .wrongAlgorithm),
            ("alg", "HS256", .wrongAlgorithm), ("alg", "none", .wrongAlgorithm), ("alg", "ES256", .wrongAlgorithm),
            ("alg", "rs256", .wrongAlgorithm), ("alg", "RSA-OAEP", .wrongAlgorithm),
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

    @Test func `The modulus is checked (V-37)`() throws {
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

    private func jwk(of algorithm: SignatureAlgorithm, _ name: String = "kid", _ value: JSONValue? = "a") throws
        -> JSONValue
    {
        let members = try PrivateKey.generate(algorithm).numbers.members(for: algorithm)
        return .object(members.with("kid", "a").with("alg", .string(algorithm.rawValue)).with(name, value))
    }

    @Test func `A key is for its alg, or for the first algorithm that is allowed for its kind (V-36)`() throws {
        for algorithm in SignatureAlgorithm.allCases {
            let set = try document([jwk(of: algorithm)])
            #expect(set.keys.map(\.algorithm) == [algorithm] && set.rejected.isEmpty)
            let suitable = SignatureAlgorithm.allCases.first { $0.keyKind == algorithm.keyKind }
            #expect(try document([jwk(of: algorithm, "alg", nil)]).keys.map(\.algorithm) == [suitable])
            let bytes = JSONValue.object(["keys": [try jwk(of: algorithm, "alg", nil)]]).serialized()
            let narrowed = try KeySetDocument(parsing: bytes, allowing: [algorithm])
            #expect(narrowed.keys.map(\.algorithm) == [algorithm])
            let others = SignatureAlgorithm.allCases.filter { $0.keyKind != algorithm.keyKind }
            let refused = try KeySetDocument(parsing: bytes, allowing: others)
            #expect(refused.keys.isEmpty && refused.rejected.map(\.reason) == [.algorithmNotAllowed])
            for other in SignatureAlgorithm.allCases where other.keyKind != algorithm.keyKind {
                let confused = try document([jwk(of: algorithm, "alg", .string(other.rawValue))])
                #expect(confused.rejected.map(\.reason) == [.wrongAlgorithm], "\(algorithm) as \(other)")
            }
        }
        let set = JSONValue.object(["keys": [try jwk(of: .ps256)]]).serialized()
        #expect(try KeySetDocument(parsing: set, allowing: [.rs256]).rejected.map(\.reason) == [.algorithmNotAllowed])
    }

    @Test(
        "A curve or a point that is not that of the key is refused (V-36)",
        arguments: [
            ("crv", nil, .wrongKeyType), ("crv", "P-521", .wrongKeyType), ("crv", "secp256k1", .wrongKeyType),
            ("crv", "Ed25519", .wrongKeyType), ("crv", "p-256", .wrongKeyType), ("crv", "P-384", .wrongAlgorithm),
            ("kty", "OKP", .wrongKeyType), ("kty", "RSA", .wrongAlgorithm), ("x", nil, .malformedPoint),
            ("x", "", .malformedPoint), ("y", nil, .malformedPoint), ("y", "AQAB", .malformedPoint),
            ("y", 1, .malformedPoint), ("use", "enc", .notForSignatures), ("key_ops", ["sign"], .notForVerifying),
            ("kid", nil, .missingIdentifier),
        ] as [(String, JSONValue?, KeyRejection)])
    func pointsAreChecked(name: String, value: JSONValue?, reason: KeyRejection) throws {
        #expect(try document([jwk(of: .es256, name, value)]).rejected.map(\.reason) == [reason])
    }

    @Test func `Keys of two algorithms may have one kid (V-38)`() throws {
        let set = try document([jwk(of: .es256), jwk(of: .rs256), jwk(of: .edDSA), jwk(of: .edDSA)])
        #expect(set.keys.map(\.algorithm) == [.es256, .rs256])
        #expect(set.rejected.map(\.reason) == [.conflictingIdentifier, .conflictingIdentifier])
    }

    @Test func `Entries that are not objects are skipped (V-36)`() throws {
        let set = try document([1, "a", [], .null, jwk()])
        #expect(set.rejected.map(\.reason) == [.notAnObject, .notAnObject, .notAnObject, .notAnObject])
        #expect(set.keys.count == 1)
    }

    @Test func `Two keys with one kid are both dropped (V-38)`() throws {
        let other = jwk("n", .string(Base64URL.encode(SigningKey.other.modulus)))
        let set = try document([jwk(), other, jwk("kid", "b"), jwk()])
        #expect(set.keys.map(\.keyIdentifier) == ["b"])
        #expect(set.rejected.map(\.reason) == [.conflictingIdentifier, .conflictingIdentifier, .conflictingIdentifier])
        #expect(set.rejected.allSatisfy { $0.keyIdentifier == "a" })
    }

    @Test func `The same key twice is one key (V-38)`() throws {
        let set = try document([jwk(), jwk("alg", "RS256")])
        #expect(set.keys.count == 1)
        #expect(set.rejected.isEmpty)
    }

    @Test func `A composed and a decomposed letter are two identifiers (V-27)`() throws {
        let other = SigningKey.other.modulus
        let set = try document([
            jwk("kid", "\u{E9}"),
            .object([
                "kid": "e\u{301}", "kty": "RSA", "e": "AQAB", "n": .string(Base64URL.encode(other)),
            ]),
        ])
        #expect(set.keys.count == 2)
    }

    @Test func `Private members are reported (V-37)`() throws {
        #expect(try document([jwk("d", "AQAB")]).keys.first?.carriesPrivateMembers == true)
    }

    @Test(arguments: ["", "[]", "null", "{", #"{"keys":[],"keys":[]}"#, " \u{FEFF}{\"keys\":[]}"])
    func `A document that is not one strict JSON object is refused (V-20)`(text: String) {
        #expect(throws: KeySetError.notJSON) { try KeySetDocument(parsing: Array(text.utf8)) }
    }

    @Test func `The number of keys and the length of the document are limited`() throws {
        #expect(throws: KeySetError.noKeyList) { try KeySetDocument(parsing: Array("{}".utf8)) }
        #expect(throws: KeySetError.noKeyList) { try KeySetDocument(parsing: Array(#"{"keys":{}}"#.utf8)) }
        #expect(throws: KeySetError.tooManyKeys(65)) { try document([JSONValue](repeating: jwk(), count: 65)) }
        #expect(try document([]).keys.isEmpty)
        let long = Array(#"{"keys":[]}"#.utf8) + [UInt8](repeating: 0x20, count: KeySetDocument.longest)
        #expect(throws: KeySetError.notJSON) { try KeySetDocument(parsing: long) }
    }
}
