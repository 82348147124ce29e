import Basics
import Settings
import TaskAPI

/// How the server accepts and caches the tokens of every source.
struct TokenSettings: Sendable {
    let cacheSize: Int
    let allowInQuery: Bool
    let distrustedKeys: [String]
    /// The origins whose pages may call the API.
    let origins: CrossOrigin

    init(reading reader: inout SettingReader) {
        cacheSize = reader.value(
            "TOKEN_CACHE", .integer(0...10_000_000, example: 10_000), default: "10000",
            help: "How many verified tokens are cached; 0 verifies each one every time.")
        allowInQuery = reader.value(
            "ALLOW_QUERY_TOKEN", .bool, default: "false",
            help: "Accepts ?access_token= as well, for old browser clients. Proxies may log it.")
        distrustedKeys = reader.list(
            "DISTRUSTED_KEYS",
            .word("KID", expected: "the kid of a key", example: "X5eXk4xyojNFum1kl2Ytv8dlNP4").reloadable, default: [],
            help: "Keys of the authority that are not trusted, even while it publishes them.")
        let origins = reader.list(
            "CORS_ORIGINS", .origin, default: ["*"],
            help: "The origins whose pages may call the API, or apps (capacitor://localhost); * is any, off is none.")
        if origins.count > 1, origins.contains(where: { $0 == "*" || $0 == "off" }) {
            reader.mistake("TASKS_CORS_ORIGINS: * and off cannot be combined with other origins.")
        }
        self.origins = origins == ["*"] ? .any : .only(origins == ["off"] ? [] : origins)
    }
}

extension SettingKind where Value == String {
    /// An origin of any scheme, as browsers write it (RFC 6454 section 6.2): in lower case, without the default port.
    fileprivate static let origin = SettingKind(
        placeholder: "ORIGIN", expected: "an origin (scheme, host and perhaps a port, no path), * or off",
        example: "https://app.example.com"
    ) { text in
        if text == "*" || text == "off" { return text }
        let lowered = text.lowercasedASCII
        let scheme = lowered.prefix { $0 != ":" }
        guard scheme.utf8.first?.isLetterOrDigit == true,
            scheme.utf8.allSatisfy({ $0.isLetterOrDigit || "+-.".utf8.contains($0) }),
            // Apps have schemes of their own, with a host as http has it.
            let address = WebAddress("\(scheme == "https" ? scheme : "http")\(lowered[scheme.endIndex...])"),
            address.path.isEmpty, address.query == nil, !address.hasFragment
        else { return nil }
        return "\(scheme)\(address.origin.drop { $0 != ":" })"
    }
}
