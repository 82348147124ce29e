import JSON

/// The content of a token that is issued without a sign-in.
struct TokenSpecification: Sendable {
    /// The account: an address, the part before the `@`, or an object id.
    var user: String
    /// The policy; without one, the first for signing in.
    var policy: String?
    /// The client; without one, the first.
    var client: String?
    /// The scope; without one, an access token for the client itself.
    var scope: String?
    /// The defect, if the token is to have one.
    var bad: BadToken?
    /// The `kid` of the key that signs, of any tenant; without one, the tenant's.
    var key: String?
    var changes = ClaimChanges()

    /// Whether the service could issue such a token.
    var isGood: Bool {
        bad == nil && key == nil && changes == ClaimChanges(nonce: changes.nonce)
    }
}

struct ClaimChanges: Sendable, Equatable {
    /// Seconds from now to `exp`; negative for an expired token.
    var expiry: Int64?
    var nonce: String?
    var set = JSONObject()
    /// Claims to leave out.
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
