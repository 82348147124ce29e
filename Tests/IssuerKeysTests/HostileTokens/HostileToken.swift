import JSON
import Support
import Tokens

/// A token with one fault, and the one reason why it is refused.
struct HostileToken: Sendable {
    let name: String
    let text: String
    let refusal: TokenRefusal

    /// A good token with its header replaced, correctly signed.
    static func header(_ name: String, _ header: JSONObject, _ refusal: TokenRefusal) -> HostileToken {
        HostileToken(name: "header, \(name)", text: makeToken(header: header), refusal: refusal)
    }

    /// A good token with one member of its header replaced, correctly signed.
    static func header(_ member: String, _ value: JSONValue?, _ refusal: TokenRefusal) -> HostileToken {
        header("\(member) is \(described(value))", TestClaims.header.with(member, value), refusal)
    }

    /// A good token with one claim replaced, correctly signed.
    static func claim(_ name: String, _ value: JSONValue?, _ refusal: TokenRefusal) -> HostileToken {
        HostileToken(
            name: "claim, \(name) is \(described(value))", text: makeToken(claims: TestClaims.good.with(name, value)),
            refusal: refusal)
    }

    private static func described(_ value: JSONValue?) -> String {
        value.map { String(decoding: $0.serialized(), as: UTF8.self) } ?? "absent"
    }

    /// All of them.
    static func all() throws -> [HostileToken] {
        headers + keys + claims + times + names + documents + forms + signatures + (try forgedSignatures())
    }
}

/// The parts of the good token that faults of form start from.
enum GoodParts {
    static let header = JSONValue.object(TestClaims.header).serialized()
    /// Two bytes more than a multiple of three, so that the last letter has bits to spare.
    static let payload = padded(JSONValue.object(TestClaims.good).serialized())
    static let token = makeToken(payload: payload, header: header)
    static let segments = token.split(separator: ".").map { String($0) }

    private static func padded(_ json: [UInt8]) -> [UInt8] {
        json + [UInt8](repeating: UInt8(ascii: " "), count: (5 - json.count % 3) % 3)
    }
}
