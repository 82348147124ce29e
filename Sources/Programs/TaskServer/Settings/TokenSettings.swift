import Settings

/// What a token must carry, and how long it is remembered.
struct TokenSettings: Sendable {
    let readScope: String?
    let writeScope: String?
    let ownerClaim: String
    let clockSkew: Duration
    let cacheSize: Int
    let allowInQuery: Bool
    let distrustedKeys: [String]
    let origins: [String]

    init(reading reader: inout SettingReader) {
        readScope = reader.optional(
            "READ_SCOPE", .scope, absence: "none: ID tokens are taken, too",
            help: "The scope that a token must carry to read tasks.")
        writeScope = reader.optional(
            "WRITE_SCOPE", .scope, absence: "none: ID tokens are taken, too",
            help: "The scope that a token must carry to change tasks.")
        ownerClaim = reader.value(
            "OWNER_CLAIM", .text("CLAIM", expected: "the name of a claim", example: "sub"), default: "oid",
            help: "The claim whose value owns the tasks. Changing it later hides everybody's tasks.")
        clockSkew = reader.value(
            "CLOCK_SKEW", .duration(.zero ... .seconds(300), example: "60s"), default: "60s",
            help: "How far the clocks of the authority and this machine may be apart.")
        cacheSize = reader.value(
            "TOKEN_CACHE", .integer(0...10_000_000, example: 10_000), default: "10000",
            help: "How many verified tokens are remembered; 0 verifies each one every time.")
        allowInQuery = reader.value(
            "ALLOW_QUERY_TOKEN", .bool, default: "false",
            help: "Takes ?access_token= as well, for old browser clients. Proxies may log it.")
        distrustedKeys = reader.list(
            "DISTRUSTED_KEYS", .text("KID", expected: "the kid of a key", example: "X5eXk4xyojNFum1kl2Ytv8dlNP4"),
            default: [], help: "Keys of the authority that must not be believed, at once and whatever it publishes.")
        origins = reader.list(
            "CORS_ORIGINS", .origin, default: ["*"],
            help: "The origins whose pages may call; * is any, off is none.")
        if origins.count > 1, origins.contains(where: { $0 == "*" || $0 == "off" }) {
            reader.mistake("TASKS_CORS_ORIGINS: * and off stand alone.")
        }
    }
}

extension SettingKind where Value == String {
    /// One scope: a token of RFC 6749 section 3.3.
    fileprivate static let scope = SettingKind(
        placeholder: "SCOPE", expected: "one scope, without spaces", example: "tasks.read"
    ) { text in
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C } ? text : nil
    }

    /// An origin as browsers write it (RFC 6454 section 6.2).
    fileprivate static let origin = SettingKind(
        placeholder: "ORIGIN", expected: "an origin (scheme and host, nothing behind), * or off",
        example: "https://app.example.com"
    ) { text in
        if text == "*" || text == "off" { return text }
        // Scheme, the nothing between the slashes, host.
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard WebAddress(text) != nil, parts.count == 3, !text.contains("?") else { return nil }
        return text
    }
}
