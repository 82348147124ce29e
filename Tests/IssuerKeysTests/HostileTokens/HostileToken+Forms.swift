import Basics
import JSON
import OpenSSL
import Support
import Tokens

// Faults of the compact form (V-10 to V-16).
extension HostileToken {
    static var forms: [HostileToken] {
        let (token, parts) = (GoodParts.token, GoodParts.segments)
        let (header, payload, signature) = (parts[0], parts[1], parts[2])
        let counted: [(String, String)] = [
            ("nothing", ""), ("a dot", "."), ("two dots", ".."), ("three dots", "..."), ("one part", header),
            ("two parts", "\(header).\(payload)"), ("an empty signature", "\(header).\(payload)."),
            ("an empty payload", "\(header)..\(signature)"), ("an empty header", ".\(payload).\(signature)"),
            ("a dot before", "." + token), ("a dot after", token + "."), ("four parts", token + ".AAAA"),
            ("five parts, as encrypted tokens have them", "\(header).AAAA.\(payload).AAAA.\(signature)"),
            ("a dot within the payload", "\(header).\(payload.prefix(20)).\(payload.dropFirst(20)).\(signature)"),
            ("two tokens", "\(token).\(token)"), ("dots alone", String(repeating: ".", count: 8000)),
            ("the flattened serialisation", serialized(header, payload, signature)),
            (
                "the general serialisation",
                "{\"payload\":\"\(payload)\",\"signatures\":[{\"protected\":\"\(header)\"}]}"
            ),
            ("an escaped dot", "\(header)%2E\(payload).\(signature)"),
            ("a full stop of CJK", "\(header)\u{3002}\(payload).\(signature)"),
        ]
        return counted.map { HostileToken(name: "form, \($0)", text: $1, refusal: .notThreeSegments) } + spellings
    }

    private static func serialized(_ header: String, _ payload: String, _ signature: String) -> String {
        "{\"protected\":\"\(header)\",\"payload\":\"\(payload)\",\"signature\":\"\(signature)\"}"
    }

    /// Letters that base64url does not have, and spellings that are not the canonical one.
    private static var spellings: [HostileToken] {
        let parts = GoodParts.segments
        let strange = [
            "=", "==", " ", "\n", "\r\n", "\t", "\0", "+", "/", "*", "%", "%3D", "\"", ",", "\u{E9}", "\u{FF21}",
            "\u{200B}", "~",
        ]
        var list: [HostileToken] = []
        for (index, name) in ["header", "payload", "signature"].enumerated() {
            for letters in strange {
                for (place, text) in [
                    ("after", parts[index] + letters), ("before", letters + parts[index]),
                    ("within", parts[index].prefix(9) + letters + parts[index].dropFirst(9)),
                ] {
                    var changed = parts
                    changed[index] = String(text)
                    list.append(
                        HostileToken(
                            name: "\(name), \(JSONValue.string(letters)) \(place)",
                            text: changed.joined(separator: "."),
                            refusal: .notBase64URL))
                }
            }
        }
        return list + [
            HostileToken(name: "the scheme before", text: "Bearer " + GoodParts.token, refusal: .notBase64URL),
            HostileToken(name: "in quotes", text: "\"\(GoodParts.token)\"", refusal: .notBase64URL),
            HostileToken(
                name: "a letter after whole groups of four",
                text: [parts[0], String(parts[1].dropLast(2)), parts[2]].joined(separator: "."), refusal: .notBase64URL),
            spareBits(1), spareBits(2),
        ]
    }

    /// The unused bits of the last letter, not zero: the same bytes in another spelling (V-13).
    private static func spareBits(_ index: Int) -> HostileToken {
        var parts = GoodParts.segments
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let last = parts[index].removeLast()
        let place = letters.firstIndex(of: last) ?? 0
        parts[index].append(letters[place + 1])
        return HostileToken(
            name: "part \(index), bits to spare", text: parts.joined(separator: "."), refusal: .notBase64URL)
    }
}

// Faults of the signature (V-45 to V-47): most share header and payload, or the last bytes, with a good token.
extension HostileToken {
    static var signatures: [HostileToken] {
        let input = GoodParts.segments[0] + "." + GoodParts.segments[1]
        let good = Base64URL.decode(GoodParts.segments[2]) ?? []
        let others = [
            ("the modulus", SigningKey.shared.modulus), ("of another token", Base64URL.decode(anotherSignature) ?? []),
        ]
        return almost(good, of: input) + others.map { signed(input, $0, $1) } + [
            HostileToken(
                name: "other claims under it", text: swapped(payload: "B2C_1_SIGN_IN"), refusal: .badSignature),
            HostileToken(name: "another header under it", text: swappedHeader, refusal: .badSignature),
        ]
    }

    /// The token with this signature, which is wrong.
    static func signed(_ input: String, _ name: String, _ signature: [UInt8]) -> HostileToken {
        HostileToken(
            name: "signature, \(name)", text: input + "." + Base64URL.encode(signature), refusal: .badSignature)
    }

    /// Signatures that differ little from the good one, of any algorithm.
    static func almost(_ good: [UInt8], of input: String) -> [HostileToken] {
        let (count, half) = (good.count, good.count / 2)
        let flipped = [0, 1, 2, 15, 16, 31, half - 1, half, half + 1, count - 2, count - 1].flatMap { index in
            [0, 2, 7].map { bit in
                var signature = good
                signature[index] ^= 1 << bit
                return ("bit \(bit) of byte \(index)", signature)
            }
        }
        let others: [(String, [UInt8])] = [
            ("a byte", [0]), ("zeros", .init(repeating: 0, count: count)),
            ("ones", .init(repeating: 255, count: count)), ("without its first byte", Array(good.dropFirst())),
            ("without its last byte", good.dropLast()), ("half", Array(good.prefix(half))),
            ("a zero before", [0] + good), ("a zero after", good + [0]), ("twice", good + good),
            ("the other way round", good.reversed()),
        ]
        return (flipped + others).map { signed(input, $0, $1) }
    }

    private static var anotherSignature: String {
        String(makeToken(claims: TestClaims.good.with("name", "Bob")).split(separator: ".")[2])
    }

    /// Claims that would be good, under the signature of others.
    private static func swapped(payload policy: JSONValue) -> String {
        let claims = JSONValue.object(TestClaims.good.with("tfp", policy)).serialized()
        return [GoodParts.segments[0], Base64URL.encode(claims), GoodParts.segments[2]].joined(separator: ".")
    }

    private static var swappedHeader: String {
        let header = JSONValue.object(TestClaims.header.with("typ", nil)).serialized()
        return [Base64URL.encode(header), GoodParts.segments[1], GoodParts.segments[2]].joined(separator: ".")
    }

    /// Blocks that are almost RSASSA-PKCS1-v1_5 with SHA-256, and forgeries for an exponent of 3.
    static func forgedSignatures() throws -> [HostileToken] {
        try (forgedVectors()["tokens"].array ?? []).filter { $0["good"] != true }.map { entry in
            HostileToken(
                name: "forged, \(entry["name"].string ?? "")", text: entry["token"].string ?? "",
                refusal: .badSignature)
        }
    }

    static func forgedVectors() throws -> JSONValue {
        try TestFile.vector("forged_signatures.json").json()
    }
}
