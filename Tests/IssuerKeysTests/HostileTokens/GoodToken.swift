import JSON
import Support

/// A token that must be accepted, however unusual it is.
struct GoodToken: Sendable {
    let name: String
    let text: String

    static func all() throws -> [GoodToken] {
        headers + times + claims + texts
            + (try HostileToken.forgedVectors()["tokens"].array ?? []).filter { $0["good"] == true }.map {
                GoodToken(name: "signed by another program", text: $0["token"].string ?? "")
            }
    }

    private static func claim(_ name: String, _ value: JSONValue?) -> GoodToken {
        GoodToken(
            name: "claim, \(name) is \(value.map { String(decoding: $0.serialized(), as: UTF8.self) } ?? "absent")",
            text: makeToken(claims: TestClaims.good.with(name, value)))
    }

    private static var headers: [GoodToken] {
        let types: [JSONValue?] = [nil, "jwt", "JWT", "application/jwt", "at+jwt", "AT+JWT", "Application/AT+JWT"]
        return types.map {
            GoodToken(name: "header, typ", text: makeToken(header: TestClaims.header.with("typ", $0)))
        }
            // What offers a key is not looked at (V-23).
            + HostileToken.offers.map { name, value in
                GoodToken(
                    name: "header, \(name) offers a key", text: makeToken(header: TestClaims.header.with(name, value)))
            } + [
                GoodToken(
                    name: "header, cty is no token", text: makeToken(header: TestClaims.header.with("cty", "json"))),
                GoodToken(
                    name: "header, unknown members",
                    text: makeToken(header: TestClaims.header.with("x", ["y": [1, .null]]))),
            ]
    }

    private static var times: [GoodToken] {
        let now = TestClaims.now
        let early = [JSONValue.integer(now - 59), .real(Double(now) - 59.5), .real(Double(now) + 0.5)].map { expiry in
            // The good nbf would be after it.
            GoodToken(
                name: "almost too late",
                text: makeToken(claims: TestClaims.good.with("exp", expiry).with("nbf", .integer(now - 100))))
        }
        return early + [
            claim("exp", .integer(now + 86_460)), claim("nbf", nil), claim("nbf", 0), claim("nbf", .integer(now + 60)),
            claim("iat", nil), claim("iat", .integer(now + 60)), claim("iat", .real(Double(now) - 0.25)),
            claim("iat", .integer(now + 3600 - 86_460)),
        ]
    }

    private static var claims: [GoodToken] {
        let good = TestClaims.good
        return [
            claim("scp", nil), claim("scp", ""), claim("scp", "a b  c"), claim("scp", ["tasks.read", "tasks.write"]),
            claim("scp", []), claim("scp", [1]), claim("nonce", "n"), claim("name", nil),
            claim("name", "\u{1F600} e\u{301}"),
            claim("name", ["x"]), claim("sub", nil), claim("aud", [.string(TestClaims.audience)]),
            claim("tfp", .string(TestClaims.policy.lowercased())),
            claim("tfp", .string(TestClaims.policy.uppercased())),
            claim("acr", .string(TestClaims.policy)), claim("oid", .string(TestClaims.owner.uppercased())),
            claim("emails", ["a@example.com"]), claim("x", [[[[[[[[[[[[[["deep"]]]]]]]]]]]]]]),
            claim("x", .real(1e300)), claim("ver", 1), claim("azp", .null),
            GoodToken(
                name: "claim, acr in place of tfp",
                text: makeToken(claims: good.with("tfp", nil).with("acr", .string(TestClaims.policy)))),
            GoodToken(
                name: "256 claims",
                text: makeToken(
                    claims: (0..<256 - good.members.count).reduce(good) { claims, number in
                        claims.with("c\(number)", 1)
                    })),
        ]
    }

    /// The same object, spelled in another way.
    private static var texts: [GoodToken] {
        let (header, payload) = (GoodParts.header, GoodParts.payload)
        let spaced = String(decoding: payload, as: UTF8.self).replacing(",\"", with: " ,\r\n\t\"")
        return [
            GoodToken(name: "on several lines", text: makeToken(payload: Array(spaced.utf8), header: header)),
            GoodToken(
                name: "with escapes",
                text: makeToken(
                    payload: Array(String(decoding: payload, as: UTF8.self).replacing("/", with: "\\/").utf8),
                    header: Array("{\"\\u0061lg\":\"RS\\u003256\",\"kid\":\"\\u006bey-1\"}".utf8))),
            GoodToken(
                name: "the other way round",
                text: makeToken(
                    payload: JSONValue.object(
                        JSONObject(TestClaims.good.members.reversed().map { ($0.name, $0.value) })
                    ).serialized(),
                    header: header)),
            GoodToken(
                name: "header of 2048 bytes", text: makeToken(payload: payload, header: header.filled(to: 2048))),
            GoodToken(
                name: "payload of 5000 bytes", text: makeToken(payload: payload.filled(to: 5000), header: header)),
        ]
    }
}
