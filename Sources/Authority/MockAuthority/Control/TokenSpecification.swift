import HTTP
import JSON

struct TokenSpecification: Sendable {
    /// The account: an address, the part before the `@`, or an object id.
    var user: String
    /// The policy; without one, the first for signing in.
    var policy: String?
    /// The client; without one, the first.
    var client: String?
    /// The scope; without one, an access token for the client itself.
    var scope: String?
    var bad: BadToken?
    /// The `kid` of the key that signs, of any tenant; without one, the tenant's.
    var key: String?
    var changes = ClaimChanges()

    /// Whether the service could issue such a token.
    var isGood: Bool { bad == nil && key == nil && changes == ClaimChanges(nonce: changes.nonce) }
}

struct ClaimChanges: Sendable, Equatable {
    /// Seconds from now to `exp`; negative for an expired token.
    var expiry: Int64?
    var nonce: String?
    var set = JSONObject()
    var drop: [String] = []

    /// Makes the changes; an expired token was issued a lifetime before its expiry.
    func apply(to claims: inout JSONObject, now: Int64, lifetime: Int64) {
        if let expiry {
            claims["exp"] = .integer(now + expiry)
            if expiry <= 0 {
                claims["nbf"] = .integer(now + expiry - lifetime)
                claims["iat"] = .integer(now + expiry - lifetime)
            }
        }
        for member in set.members { claims[member.name] = member.value }
        for name in drop { claims[name] = nil }
    }
}

extension TokenSpecification {
    fileprivate static let names = [
        "user", "policy", "client", "scope", "bad", "exp", "nonce", "claim", "drop", "run", "profile", "tenant", "kid",
    ]

    /// Reads a query; unknown parameters are refused, since a test with a misspelt defect would pass.
    init(_ query: Parameters, _ profile: TenantProfile) throws(InputError) {
        for argument in query.all where !Self.names.contains(argument.name) {
            throw InputError(
                message:
                    "'\(argument.name)' is not a parameter of a token. Known: \(Self.names.joined(separator: ", ")).")
        }
        guard let user = query["user"] else { throw InputError(message: "Say for whom: /_mock/token?user=alice") }
        self.init(
            user: user, policy: query["policy"], client: query["client"], scope: query["scope"],
            changes: try ClaimChanges(query))
        key = query["kid"]
        guard let name = query["bad"] else { return }
        bad = BadToken.all(of: profile).first { $0.name == name }
        if bad == nil {
            throw InputError(message: "No bad token is called '\(name)'. /_mock/token/bad lists them.")
        }
    }
}

extension ClaimChanges {
    fileprivate init(_ query: Parameters) throws(InputError) {
        self.init(nonce: query["nonce"], drop: query.values("drop"))
        if let text = query["exp"] {
            guard let seconds = Self.seconds(text) else {
                throw InputError(message: "exp=\(text) is no time from now. Examples: -1h, 90s, 30m, 2d.")
            }
            expiry = seconds
        }
        for pair in query.values("claim") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw InputError(message: "claim=\(pair) is no claim. Example: claim=name=Alice")
            }
            set[String(parts[0])] = Self.value(String(parts[1]))
        }
    }

    /// JSON if it is JSON, else the text itself.
    private static func value(_ text: String) -> JSONValue {
        (try? JSONValue(parsing: Array(text.utf8))) ?? .string(text)
    }

    /// `-1h`, `90`, `30m`; a plus in a query has become a space.
    private static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        let unit = text.last.flatMap { units[$0] }
        let digits = (unit == nil ? text[...] : text.dropLast()).drop { $0 == " " }
        guard let number = Int64(digits), (-9_999_999_999...9_999_999_999).contains(number) else { return nil }
        return number * (unit ?? 1)
    }
}

extension MockAuthority {
    /// The parameters of a request for a token.
    package static let tokenParameters = TokenSpecification.names
}
