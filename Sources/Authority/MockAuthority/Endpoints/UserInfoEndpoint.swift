import Basics
import HTTP
import JSON

/// The user information endpoint of custom policies, under the names that the service gives its claims.
struct UserInfoEndpoint: Sendable {
    let context: RequestContext

    /// The account that the bearer token speaks for.
    func respond() async -> Response {
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

    private func refuse(_ error: String) -> Response {
        var response = Response.text("A bearer token of this authority is needed.", status: 401)
        response.headers.append(context.headers)
        response.headers.append("WWW-Authenticate", "Bearer realm=\"\(context.configuration.tenant.name)\"\(error)")
        return response
    }
}
