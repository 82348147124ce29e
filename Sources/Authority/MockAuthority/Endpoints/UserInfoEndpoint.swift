import Basics
import HTTP
import JSON

/// The user information endpoint: that of custom policies of B2C, or that of OpenID Connect Core 5.3.
struct UserInfoEndpoint: Sendable {
    let context: RequestContext

    func decide() async -> Decision {
        context.configuration.profile == .strict ? await decideStrictly() : .respond(await respond())
    }

    /// Answers with the account that the bearer token speaks for, under the names that the service gives its claims.
    private func respond() async -> Response {
        guard let field = context.head.headers["Authorization"], field.spaceSeparated.count == 2,
            field.spaceSeparated[0].isEqualIgnoringCase(to: "bearer")
        else { return refuse("") }
        let claims = await TokenReader(keys: context.authority.keys).claims(field.spaceSeparated[1])
        guard let claims, (claims["exp"]?.integer ?? 0) > context.now,
            let user = claims["oid"]?.string.flatMap({ context.run.directory.user($0) })
        else { return refuse(", error=\"invalid_token\"") }
        return Response.json(
            [
                "objectId": .string(user.objectID), "givenName": .string(user.name.given),
                "surname": .string(user.name.family), "displayName": .string(user.name.display),
                "signInNames.emailAddress": .string(user.email),
            ], headers: context.headers)
    }

    func refuse(_ error: String, status: Status = 401) -> Response {
        var response = Response.text("A bearer token of this authority is needed.", status: status)
        response.headers.append(context.headers)
        response.headers.append("WWW-Authenticate", "Bearer realm=\"\(context.configuration.tenant.name)\"\(error)")
        return response
    }
}
