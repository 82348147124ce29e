import JSON

/// The claims about a person that OpenID Connect defines (Core 5.1), invented where the account does not have them.
struct StandardClaims: Sendable {
    let user: User

    /// The claims that each scope opens (OpenID Connect Core 5.4).
    static let ofScopes: [(scope: String, names: [String])] = [
        (
            "profile",
            [
                "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile",
                "picture", "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at",
            ]
        ),
        ("email", ["email", "email_verified"]), ("address", ["address"]),
        ("phone", ["phone_number", "phone_number_verified"]),
    ]

    /// The values of the claims that these scopes open, and of the claims with these names.
    func values(of scopes: [String], and names: [String]) -> JSONObject {
        var values = JSONObject()
        for name in Self.ofScopes.filter({ scopes.contains($0.scope) }).flatMap(\.names) + names {
            values[name] = user.claims[name] ?? known[name]
        }
        return values
    }

    /// The claims of the account that no scope opens, which are in every access token.
    var others: JSONObject {
        let standard = Self.ofScopes.flatMap(\.names)
        return JSONObject(user.claims.members.filter { !standard.contains($0.name) }.map { ($0.name, $0.value) })
    }

    private var known: JSONObject {
        let short = String(user.email.prefix { $0 != "@" })
        return [
            "sub": .string(user.objectID), "name": .string(user.name.display),
            "family_name": .string(user.name.family), "given_name": .string(user.name.given), "middle_name": "Middle",
            "nickname": .string(short), "preferred_username": .string(user.email),
            "profile": .string("https://example.com/\(short)"),
            "picture": .string("https://example.com/\(short).png"), "website": .string("https://\(short).example.com/"),
            "gender": "unknown", "birthdate": "2000-01-31", "zoneinfo": "Europe/Berlin", "locale": "en-US",
            "updated_at": 1_700_000_000, "email": .string(user.email), "email_verified": true,
            "phone_number": "+1 425 555 0100", "phone_number_verified": true,
            "address": [
                "formatted": "One Example Way\nRedmond, WA 98052\nUSA", "street_address": "One Example Way",
                "locality": "Redmond", "region": "WA", "postal_code": "98052", "country": "USA",
            ],
        ]
    }
}
