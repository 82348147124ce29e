import Basics
import Settings

/// What a token must carry, and how long it is remembered.
struct TokenSettings: Sendable {
    /// The names that `scp` carries.
    let readScope: String?
    let writeScope: String?
    /// What a client asks for to get them: B2C wants the address of the API in front of the name.
    let scopesToAsk: [String]
    let ownerClaim: String
    let clockSkew: Duration
    let cacheSize: Int
    let allowInQuery: Bool
    let distrustedKeys: [String]
    let origins: [String]

    init(reading reader: inout SettingReader) {
        let read = reader.optional(
            "READ_SCOPE", .scope, absence: "none: ID tokens are accepted, too",
            help: "The scope that a token must have to read tasks; for B2C, with the address of the API before it.")
        let write = reader.optional(
            "WRITE_SCOPE", .scope, absence: "none: ID tokens are accepted, too",
            help: "The scope that a token must have to change tasks; for B2C, with the address of the API before it.")
        readScope = read.map(Self.name)
        writeScope = write.map(Self.name)
        scopesToAsk = [read, write].compactMap(\.self)
        ownerClaim = reader.value(
            "OWNER_CLAIM", .text("CLAIM", expected: "the name of a claim", example: "sub"), default: "oid",
            help: "The claim that identifies the owner of tasks. Changing it later hides all existing tasks.")
        clockSkew = reader.value(
            "CLOCK_SKEW", .duration(.zero ... .seconds(300), example: "60s"), default: "60s",
            help: "How much the clocks of the authority and this machine may differ.")
        cacheSize = reader.value(
            "TOKEN_CACHE", .integer(0...10_000_000, example: 10_000), default: "10000",
            help: "How many verified tokens are cached; 0 verifies each one every time.")
        allowInQuery = reader.value(
            "ALLOW_QUERY_TOKEN", .bool, default: "false",
            help: "Accepts ?access_token= as well, for old browser clients. Proxies may log it.")
        distrustedKeys = reader.list(
            "DISTRUSTED_KEYS", .text("KID", expected: "the kid of a key", example: "X5eXk4xyojNFum1kl2Ytv8dlNP4"),
            default: [], help: "Keys of the authority that are not trusted, even while it publishes them.")
        origins = reader.list(
            "CORS_ORIGINS", .origin, default: ["*"],
            help: "The origins whose pages may call the API; * is any, off is none.")
        if origins.count > 1, origins.contains(where: { $0 == "*" || $0 == "off" }) {
            reader.mistake("TASKS_CORS_ORIGINS: * and off cannot be combined with other origins.")
        }
    }
}

extension TokenSettings {
    /// What comes after the last slash: of `https://contoso.onmicrosoft.com/tasks/tasks.read` tokens carry `tasks.read`.
    fileprivate static func name(of scope: String) -> String {
        scope.split(separator: "/").last.map { String($0) } ?? scope
    }
}

extension SettingKind where Value == String {
    /// One scope: a token of RFC 6749 section 3.3, with a name at its end.
    fileprivate static let scope = SettingKind(
        placeholder: "SCOPE", expected: "one scope, without spaces",
        example: "https://contoso.onmicrosoft.com/tasks/tasks.read"
    ) { text in
        let isScope = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        return isScope && !text.isEmpty && !text.hasSuffix("/") ? text : nil
    }

    /// An origin as browsers write it (RFC 6454 section 6.2).
    fileprivate static let origin = SettingKind(
        placeholder: "ORIGIN", expected: "an origin (scheme and host, nothing after it), * or off",
        example: "https://app.example.com"
    ) { text in
        if text == "*" || text == "off" { return text }
        // Scheme, the empty text between the slashes, host.
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = WebAddress(text), !address.hasFragment, parts.count == 3, !text.contains("?") else {
            return nil
        }
        return text
    }
}
