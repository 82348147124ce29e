import Basics
import HTTP
import JSON

/// The user information endpoint: that of custom policies of B2C, or that of OpenID Connect Core 5.3.
struct UserInfoEndpoint: Sendable {
    let context: RequestContext

    private var isStrict: Bool { context.configuration.profile == .strict }

    /// Takes the access token from the header, or at a strict provider from the form of a `POST` (RFC 6750 section 2).
    func decide() async -> Decision {
        let words = context.head.headers["Authorization"]?.spaceSeparated ?? []
        if words.count == 2, words[0].isEqualIgnoringCase(to: "bearer") { return .respond(await answer(words[1])) }
        guard isStrict, context.head.method == .post else { return .respond(refuse("")) }
        return context.head.answerForm { form in
            guard let token = form["access_token"] else { return refuse("") }
            return await answer(token)
        }
    }

    private func answer(_ token: String) async -> Response {
        let claims = await context.authority.keys.claims(of: token)
        guard let claims, (claims["exp"]?.integer ?? 0) > context.now,
            let user = claims[isStrict ? "sub" : "oid"]?.string.flatMap({ context.run.directory.user($0) })
        else { return refuse(", error=\"invalid_token\"") }
        return isStrict ? answerStrictly(user, claims) : answer(user)
    }

    /// Answers under the names that the service gives its claims.
    private func answer(_ user: User) -> Response {
        Response.json(
            [
                "objectId": .string(user.objectID), "givenName": .string(user.name.given),
                "surname": .string(user.name.family), "displayName": .string(user.name.display),
                "signInNames.emailAddress": .string(user.email),
            ], headers: context.headers)
    }

    /// Answers with the claims of the scope and of the parameter `claims` (OpenID Connect Core 5.3.2).
    private func answerStrictly(_ user: User, _ claims: JSONObject) -> Response {
        let hasEnded = claims["grant_id"]?.string.map(context.run.hasEnded(family:)) ?? false
        guard let scope = claims["scope"]?.string, !hasEnded, !user.status.disabled,
            claims["iss"]?.string == context.configuration.issuer(of: context.policy)
        else { return refuse(", error=\"invalid_token\"") }
        let scopes = scope.spaceSeparated
        guard scopes.contains("openid") else { return refuse(", error=\"insufficient_scope\"", status: 403) }
        var answer: JSONObject = ["sub": .string(user.objectID)]
        let names = claims["userinfo_claims"]?.array?.compactMap(\.string) ?? []
        let person = StandardClaims(user: user).values(of: scopes, and: names)
        for member in person.members { answer[member.name] = member.value }
        return Response.json(.object(answer), headers: context.headers)
    }

    private func refuse(_ error: String, status: Status = 401) -> Response {
        var response = Response.text("A bearer token of this authority is needed.", status: status)
        response.headers.append(context.headers)
        response.headers.append("WWW-Authenticate", "Bearer realm=\"\(context.configuration.tenant.name)\"\(error)")
        return response
    }
}
