import JSON
import Support
import Tokens

// Faults of header or payload as JSON texts (V-20, V-51, V-61); the signature is right.
extension HostileToken {
    static var documents: [HostileToken] {
        let bases: [(String, [UInt8], TokenRefusal)] = [
            ("header", JSONValue.object(TestClaims.header).serialized(), .headerNotJSON),
            ("payload", JSONValue.object(TestClaims.good).serialized(), .payloadNotJSON),
        ]
        let spoiled = bases.flatMap { part, base, refusal in
            malformed(base).map { name, bytes in
                HostileToken(
                    name: "\(part), \(name)",
                    text: part == "header"
                        ? makeToken(payload: GoodParts.payload, header: bytes)
                        : makeToken(payload: bytes, header: GoodParts.header), refusal: refusal)
            }
        }
        return spoiled + repeated + [
            HostileToken(
                name: "header of 2049 bytes",
                text: makeToken(payload: GoodParts.payload, header: GoodParts.header.filled(to: 2049)),
                refusal: .tooLong),
            HostileToken(
                name: "payload of 12,289 bytes",
                text: makeToken(payload: GoodParts.payload.filled(to: 12_289), header: GoodParts.header),
                refusal: .tooLong),
            HostileToken(
                name: "16,385 bytes",
                text: GoodParts.token + String(repeating: "A", count: 16_385 - GoodParts.token.utf8.count),
                refusal: .tooLong),
            HostileToken(
                name: "a megabyte", text: GoodParts.token + String(repeating: ".", count: 1 << 20), refusal: .tooLong),
        ]
    }

    /// One more member with this text before the last brace.
    private static func adding(_ member: [UInt8], to base: [UInt8]) -> [UInt8] {
        base.dropLast() + [UInt8(ascii: ",")] + member + [UInt8(ascii: "}")]
    }

    /// Texts that some readers take for the object, and none should; `JSONTests` has each way to write JSON wrongly.
    private static func malformed(_ base: [UInt8]) -> [(String, [UInt8])] {
        let members: [(String, String)] = [
            ("a comma at the end", ""), ("a comment", "/* x */\"x\":1"), ("a line comment", "\"x\":1 // x\n"),
            ("a name without quotes", "x:1"), ("NaN", "\"x\":NaN"), ("a leading zero", "\"x\":01"),
            ("True", "\"x\":True"), ("no value", "\"x\":"), ("no comma", "\"x\":1 \"y\":2"),
            ("a lone surrogate", "\"x\":\"\\uD800\""), ("an unknown escape", "\"x\":\"\\x41\""),
            ("a tab in a text", "\"x\":\"\t\""), ("an open text", "\"x\":\"1"), ("an open list", "\"x\":[1"),
            ("17 levels", "\"x\":" + String(repeating: "[", count: 16) + String(repeating: "]", count: 16)),
            ("500 levels", "\"x\":" + String(repeating: "[", count: 500) + String(repeating: "]", count: 500)),
            ("a number beyond all", "\"x\":1e999"), ("an inner repetition", "\"x\":{\"y\":1,\"y\":2}"),
            ("an inner repetition, escaped", "\"x\":{\"y\":1,\"\\u0079\":2}"),
        ]
        let raw: [(String, [UInt8])] = [
            ("a byte that is not UTF-8", [0xFF]), ("an overlong slash", [0xC0, 0xAF]), ("a NUL", [0]),
        ]
        return members.map { ($0, adding(Array($1.utf8), to: base)) }
            + raw.map { ($0, adding(Array("\"x\":\"".utf8) + $1 + Array("\"".utf8), to: base)) } + [
                ("a byte-order mark", [0xEF, 0xBB, 0xBF] + base), ("UTF-16", base.flatMap { [$0, 0] }),
                ("in a list", Array("[".utf8) + base + Array("]".utf8)),
                ("as a text", JSONValue.string(String(decoding: base, as: UTF8.self)).serialized()),
                ("null", Array("null".utf8)), ("no text at all", Array(" ".utf8)), ("two objects", base + base),
                ("a letter after", base + Array("x".utf8)), ("a NUL after", base + [0]),
                ("a brace too few", base.dropLast()), ("a brace too many", base + Array("}".utf8)),
                ("257 members", base.dropLast() + many(257)),
            ]
    }

    private static func many(_ count: Int) -> [UInt8] {
        Array((0..<count).map { ",\"\(String($0, radix: 16))\":1" }.joined().utf8) + [UInt8(ascii: "}")]
    }

    /// A member twice, whichever of both is good, also where one is spelled with escapes.
    private static var repeated: [HostileToken] {
        let headers = [("alg", "\"none\""), ("alg", "\"RS256\""), ("kid", "\"key-2\""), ("typ", "\"JWT\"")]
        let claims = [
            ("exp", "1"), ("exp", "\(TestClaims.now + 3600)"), ("iss", "\"https://evil.example/\""),
            ("aud", "\"other\""),
            ("oid", "\"00000000-0000-4000-8000-000000000000\""), ("oid", "\"\(TestClaims.owner)\""),
            ("tfp", "\"B2C_1_reset\""),
            ("nbf", "0"), ("scp", "\"admin\""),
        ]
        return headers.flatMap { name, value in
            both(name, value, GoodParts.header).map { text, bytes in
                HostileToken(
                    name: "header, \(text)", text: makeToken(payload: GoodParts.payload, header: bytes),
                    refusal: .headerNotJSON)
            }
        }
            + claims.flatMap { name, value in
                both(name, value, JSONValue.object(TestClaims.good).serialized()).map { text, bytes in
                    HostileToken(
                        name: "payload, \(text)", text: makeToken(payload: bytes, header: GoodParts.header),
                        refusal: .payloadNotJSON)
                }
            }
    }

    private static func both(_ name: String, _ value: String, _ base: [UInt8]) -> [(String, [UInt8])] {
        let first = name.utf8.first ?? 0
        let escaped = "\\u00" + String(first, radix: 16) + name.dropFirst()
        return [
            ("\(name) again, \(value)", adding(Array("\"\(name)\":\(value)".utf8), to: base)),
            ("\(name) again in escapes, \(value)", adding(Array("\"\(escaped)\":\(value)".utf8), to: base)),
            ("\(name) before, \(value)", Array("{\"\(name)\":\(value),".utf8) + base.dropFirst()),
        ]
    }
}

extension [UInt8] {
    /// The object with blanks before its last brace, this long.
    func filled(to count: Int) -> [UInt8] {
        let end = lastIndex(of: UInt8(ascii: "}")) ?? endIndex
        return self[..<end] + [UInt8](repeating: UInt8(ascii: " "), count: count - self.count) + self[end...]
    }
}
