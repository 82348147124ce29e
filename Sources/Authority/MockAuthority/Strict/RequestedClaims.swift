import JSON

/// The claims that a client asks for by their names, in the parameter `claims` (OpenID Connect Core 5.5).
struct RequestedClaims: Sendable, Equatable {
    /// The names of the claims for the response of the user information endpoint.
    var userInfo: [String] = []
    var idToken: [String] = []

    init() {}

    init(_ value: JSONObject) {
        userInfo = value["userinfo"]?.object?.members.map(\.name) ?? []
        idToken = value["id_token"]?.object?.members.map(\.name) ?? []
    }

    /// The shortest value of the parameter for these claims; `nil` if there are none.
    var value: JSONValue? {
        if userInfo.isEmpty, idToken.isEmpty { return nil }
        func object(_ names: [String]) -> JSONValue { .object(JSONObject(names.map { ($0, .null) })) }
        return ["userinfo": object(userInfo), "id_token": object(idToken)]
    }
}
