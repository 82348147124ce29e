import Basics
import JSON
import OpenSSL
import Support
import Testing

@Suite("Wycheproof: signatures of every algorithm (V-45 to V-47)")
struct SignatureVectorTests {
    @Test(arguments: ["rsa_signature_2048_sha256_test.json", "rsa_signature_4096_sha256_test.json"])
    func `Every vector has its published result`(file: String) throws {
        let document = try TestFile.vector(file).json()
        let groups = try #require(document["testGroups"].array)
        var checked = 0
        for group in groups {
            let key = try PublicKey(
                .rsa(
                    modulus: #require(bytes(hex: group["publicKey"]["modulus"].string ?? "-")).withoutLeadingZero,
                    exponent: #require(bytes(hex: group["publicKey"]["publicExponent"].string ?? "-"))
                        .withoutLeadingZero),
                for: .rs256)
            for vector in try #require(group["tests"].array) {
                let message = try #require(bytes(hex: vector["msg"].string ?? "-"))
                let signature = try #require(bytes(hex: vector["sig"].string ?? "-"))
                // "acceptable" marks the missing NULL parameter, which RFC 8017 section 8.2.2 does not let a verifier
                // take.
                let good = vector["result"] == "valid"
                #expect(
                    key.verifies(signature: signature, of: message) == good,
                    "tcId \(vector["tcId"]), \(vector["comment"])")
                checked += 1
            }
        }
        #expect(checked == Int(document["numberOfTests"].integer ?? 0))
    }

    @Test func `Every vector of the other algorithms has its published result`() throws {
        var checked: [String: Int] = [:]
        for group in try #require(TestFile.vector("other_algorithms.json").json().array) {
            let name = group["alg"].string ?? ""
            let algorithm = try #require(SignatureAlgorithm(named: name))
            let key = try PublicKey(numbers(group["key"]), for: algorithm)
            for vector in try #require(group["tests"].array) {
                let (parts, message) = (vector.array ?? [], vector.array?[2].string ?? "-")
                let signature = try #require(bytes(hex: parts[3].string ?? "-"))
                let good = key.verifies(signature: signature, of: try #require(bytes(hex: message)))
                #expect(.boolean(good) == parts[4], "\(name), tcId \(parts[0]), \(parts[1])")
                checked[name, default: 0] += 1
            }
        }
        #expect(checked == ["RS384": 57, "RS512": 58, "PS256": 108, "ES256": 262, "ES384": 280, "EdDSA": 151])
    }

    private func numbers(_ key: JSONValue) -> PublicKeyNumbers {
        func number(_ name: String) -> [UInt8] { Base64URL.decode(key[name].string ?? "") ?? [] }
        return switch key["kty"] {
        case "RSA": .rsa(modulus: number("n"), exponent: number("e"))
        case "EC": .ec(x: number("x"), y: number("y"))
        default: .ed25519(number("x"))
        }
    }

    @Test func `A signature has the length of the modulus`() throws {
        let key = try SigningKey.shared.publicKey()
        let message = Array("message".utf8)
        let signature = try SigningKey.shared.sign(message)
        #expect(signature.count == key.signatureLength)
        #expect(key.verifies(signature: signature, of: message))
        #expect(!key.verifies(signature: [0] + signature, of: message))
        #expect(!key.verifies(signature: signature + [0], of: message))
        #expect(!key.verifies(signature: Array(signature.dropLast()), of: message))
        #expect(!key.verifies(signature: [], of: message))
        #expect(!key.verifies(signature: SigningKey.shared.modulus, of: message))
    }
}

extension [UInt8] {
    /// ASN.1 integers carry a zero octet before a high bit; keys here do not.
    var withoutLeadingZero: [UInt8] { first == 0 ? Array(dropFirst()) : self }
}
