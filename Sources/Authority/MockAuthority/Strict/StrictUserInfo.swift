import Basics
import HTTP
import JSON

extension UserInfoEndpoint {
    /// Takes the access token from the header or from the form of a `POST` (RFC 6750 section 2).
    func decideStrictly() async -> Decision {
        let words = context.head.headers["Authorization"]?.spaceSeparated ?? []
        if words.count == 2, words[0].isEqualIgnoringCase(to: "bearer") {
            return .respond(await claims(by: words[1]))
        }
        guard context.head.method == .post else { return .respond(refuse("")) }
        return context.head.answerForm { form in
            guard let token = form["access_token"] else { return refuse("") }
            return await claims(by: token)
        }
    }

    /// The claims of the scope and of the parameter `claims` (OpenID Connect Core 5.3.2).
    private func claims(by token: String) async -> Response {
        let claims = await TokenReader(keys: context.authority.keys).claims(token)
        guard let claims, let scope = claims["scope"]?.string, (claims["exp"]?.integer ?? 0) > context.now,
            claims["iss"]?.string == context.configuration.issuer(of: context.policy),
            let user = claims["sub"]?.string.flatMap({ context.run.directory.user($0) }), !user.status.disabled,
            !(claims["grant_id"]?.string.map(context.run.hasEnded(family:)) ?? false)
        else { return refuse(", error=\"invalid_token\"") }
        let scopes = scope.spaceSeparated
        guard scopes.contains("openid") else { return refuse(", error=\"insufficient_scope\"", status: 403) }
        var answer: JSONObject = ["sub": .string(user.objectID)]
        let names = claims["userinfo_claims"]?.array?.compactMap(\.string) ?? []
        let person = StandardClaims(user: user).values(of: scopes, and: names)
        for member in person.members { answer[member.name] = member.value }
        return Response.json(.object(answer), headers: context.headers)
    }
}
