import Basics
import JSON
import OpenSSL
import Tokens

/// The content of a code, a refresh token or a session cookie.
struct Grant: Sendable, Equatable {
    enum Kind: String, Sendable {
        case code, refresh, session
    }

    var kind: Kind
    var identifier = GUID.random()
    /// The identifier of the grant from which it descends: of the code, or the first refresh token; `nil` for that one.
    var ancestor: String?
    /// The identifier that a grant shares with all grants that descend from it.
    var family: String { ancestor ?? identifier }
    var binding: Binding
    /// The object id of the account.
    var user: String
    /// The revocations of the account at that time.
    var generation: Int64
    var signIn: SignIn
    /// When it was issued and when it ends, in seconds since 1970.
    var issued: Int64
    var expires: Int64

    struct Binding: Sendable, Equatable {
        var client: String
        var policy: String
        var scope: String
        var redirectURI: String?
        var challenge: Challenge?
        /// Whether the client is a page, or a page redeemed the code (`Origin`): its refresh tokens end a day after the
        /// first one, renewed or not.
        var singlePage = false
    }

    struct Challenge: Sendable, Equatable {
        var text: String
        var hashed: Bool
    }
}

extension Grant {
    fileprivate var members: JSONObject {
        [
            "kind": .string(kind.rawValue), "id": .string(identifier), "client": .string(binding.client),
            "policy": .string(binding.policy), "scope": .string(binding.scope), "user": .string(user),
            "generation": .integer(generation), "issued": .integer(issued), "expires": .integer(expires),
            "signed_in": .integer(signIn.time), "new": .boolean(signIn.newUser), "local": .boolean(signIn.local),
            "family": ancestor.map { .string($0) }, "nonce": signIn.nonce.map { .string($0) },
            "redirect": binding.redirectURI.map { .string($0) },
            "challenge": binding.challenge.map { .string($0.text) },
            "hashed": binding.challenge.map { .boolean($0.hashed) }, "single_page": .boolean(binding.singlePage),
            "shows_time": .boolean(signIn.showsTime), "claims": signIn.claims.value,
        ]
    }

    fileprivate init?(_ members: JSONObject) {
        guard let kind = members["kind"]?.string.flatMap(Kind.init(rawValue:)),
            let identifier = members["id"]?.string, let client = members["client"]?.string,
            let policy = members["policy"]?.string, let scope = members["scope"]?.string,
            let user = members["user"]?.string, let generation = members["generation"]?.integer,
            let issued = members["issued"]?.integer, let expires = members["expires"]?.integer,
            let time = members["signed_in"]?.integer
        else { return nil }
        (self.kind, self.identifier, ancestor) = (kind, identifier, members["family"]?.string)
        (self.user, self.generation, self.issued, self.expires) = (user, generation, issued, expires)
        signIn = SignIn(
            time: time, nonce: members["nonce"]?.string, newUser: members["new"]?.boolean ?? false,
            local: members["local"]?.boolean ?? false, showsTime: members["shows_time"]?.boolean ?? false,
            claims: RequestedClaims(members["claims"]?.object ?? JSONObject()))
        binding = Binding(
            client: client, policy: policy, scope: scope, redirectURI: members["redirect"]?.string,
            challenge: members["challenge"]?.string.map {
                Challenge(text: $0, hashed: members["hashed"]?.boolean ?? false)
            }, singlePage: members["single_page"]?.boolean ?? false)
    }
}

/// A request for tokens that was granted: everything that goes into the tokens of one response.
struct GrantedRequest: Sendable {
    var user: User
    var client: Client
    var policy: Policy
    var scope: Scope
    var signIn: SignIn
    /// Seconds since 1970.
    var now: Int64
    /// The family of the code or refresh token; `nil` if there is none.
    var family: String?
    /// The key to which the access token is bound, as the client names it (`req_cnf`); `nil` for a bearer token.
    var confirmation: JSONObject?
}

struct SignIn: Sendable, Equatable {
    /// Seconds since 1970.
    var time: Int64
    var nonce: String?
    var newUser = false
    /// Whether the password grant was used, which tokens say in `idp`.
    var local = false
    var showsTime = false
    var claims = RequestedClaims()
}

/// Seals codes, refresh tokens and session cookies, so that the authority need not store them.
///
/// They are as long as the service's, so that short database columns and URL limits show up in tests. The content is
/// authenticated, not secret (docs/reproduced.md, "Refresh tokens and codes").
struct GrantSeal: Sendable {
    /// `{"kid":"cpimcore_09252015","ver":"1.0","zip":"Deflate","ser":"1.0"}`, as the service writes it.
    private static let header =
        "eyJraWQiOiJjcGltY29yZV8wOTI1MjAxNSIsInZlciI6IjEuMCIsInppcCI6IkRlZmxhdGUiLCJzZXIiOiIxLjAifQ"
    private static let shortest = 560

    let secret: [UInt8]

    func seal(_ grant: Grant) -> String {
        var bytes = grant.members.bytes
        bytes += Array(repeating: UInt8(ascii: " "), count: max(0, Self.shortest - bytes.count))
        let vector = Base64URL.encode(SecureRandom.bytes(12))
        let sealed = "\(Self.header)..\(vector).\(Base64URL.encode(bytes))"
        return "\(sealed).\(tag(sealed))"
    }

    func open(_ text: String) -> Grant? {
        guard let cut = text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let sealed = String(text[..<cut])
        let given = Array(text[text.index(after: cut)...].utf8)
        guard ConstantTime.equal(given, Array(tag(sealed).utf8)) else { return nil }
        let segments = sealed.split(separator: ".", omittingEmptySubsequences: false)
        guard segments.count == 4, let bytes = Base64.decodeLenient(segments[3]) else { return nil }
        return (try? JSONValue(parsing: bytes))?.object.flatMap(Grant.init)
    }

    private func tag(_ sealed: String) -> String {
        Base64URL.encode(Array(HMACSHA256.authenticate(key: secret, message: Array(sealed.utf8)).prefix(16)))
    }
}
