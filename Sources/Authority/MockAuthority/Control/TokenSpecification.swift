package import JSON

/// A token that somebody wants without visiting a page.
package struct TokenSpecification: Sendable, Equatable {
    /// For whom: an address, the part before the `@`, or an object id.
    package var user: String
    /// Under which policy; without one, the first that signs people in.
    package var policy: String?
    /// To which client; without one, the first.
    package var client: String?
    /// What for; without a scope, an access token for the client itself.
    package var scope: String?
    /// What is to be wrong with it.
    package var bad: BadToken?
    /// What else is to be different.
    package var changes = ClaimChanges()

    /// An order for this person.
    package init(
        user: String, policy: String? = nil, client: String? = nil, scope: String? = nil, bad: BadToken? = nil,
        changes: ClaimChanges = ClaimChanges()
    ) {
        self.user = user
        self.policy = policy
        self.client = client
        self.scope = scope
        self.bad = bad
        self.changes = changes
    }
}

/// Changes to the claims of an ordered token.
package struct ClaimChanges: Sendable, Equatable {
    /// Seconds from now to `exp`; negative for a token that is over.
    package var expiry: Int64?
    /// The nonce.
    package var nonce: String?
    /// Claims to set.
    package var set: JSONObject
    /// Claims to leave out.
    package var drop: [String]

    /// These changes.
    package init(expiry: Int64? = nil, nonce: String? = nil, set: JSONObject = JSONObject(), drop: [String] = []) {
        self.expiry = expiry
        self.nonce = nonce
        self.set = set
        self.drop = drop
    }

    /// Makes the changes; a token that is over was issued a lifetime before its end.
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

/// Why an order could not be filled.
package enum TokenSpecificationError: Error, Equatable, Sendable {
    /// Nobody is called so; these are there.
    case unknownUser(String, known: [String])
    /// No policy is called so; these are there.
    case unknownPolicy(String, known: [String])
    /// No client has this id; these are there.
    case unknownClient(String, known: [String])
    /// The scope is not registered, in the words of the service.
    case scope(String)
    /// A key could not be made.
    case key

    /// One sentence for the person who asked.
    package var message: String {
        switch self {
        case .unknownUser(let name, let known):
            "There is no user '\(name)'. Known: \(known.joined(separator: ", "))."
        case .unknownPolicy(let name, let known):
            "There is no policy '\(name)'. Known: \(known.joined(separator: ", "))."
        case .unknownClient(let id, let known):
            "There is no client '\(id)'. Known: \(known.joined(separator: ", "))."
        case .scope(let words): words
        case .key: "A key could not be made."
        }
    }
}
