import Basics
internal import HTTP
internal import JSON

/// The user information endpoint of custom policies, under the names that the service gives its claims.
struct UserInfoEndpoint: Sendable {
    let call: Call

    /// The account that the bearer token speaks for.
    func respond() async -> Response {
        guard let field = call.head.headers["Authorization"], field.words.count == 2,
            field.words[0].isEqualIgnoringCase(to: "bearer")
        else { return refuse("") }
        let claims = await TokenReader(keys: call.authority.keys).claims(field.words[1])
        guard let claims, (claims["exp"]?.integer ?? 0) > call.now,
            let user = claims["oid"]?.string.flatMap({ call.run.directory.user($0) })
        else { return refuse(", error=\"invalid_token\"") }
        return Reply.json(
            [
                "objectId": .string(user.objectID), "givenName": .string(user.name.given),
                "surname": .string(user.name.family), "displayName": .string(user.name.display),
                "signInNames.emailAddress": .string(user.email),
            ], headers: call.headers)
    }

    private func refuse(_ error: String) -> Response {
        var response = Reply.text("A bearer token of this authority is needed.", status: 401)
        response.headers.append("WWW-Authenticate", "Bearer realm=\"\(call.configuration.tenant.name)\"\(error)")
        return response
    }
}
