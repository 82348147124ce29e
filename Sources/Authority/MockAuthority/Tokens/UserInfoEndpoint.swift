import Basics
import HTTP
import JSON

/// The user information endpoint: that of custom policies of B2C, or that of OpenID Connect Core 5.3.
struct UserInfoEndpoint: Sendable {
    let context: RequestContext

    /// Takes the access token from the header, or at a strict provider from the form of a `POST` (RFC 6750 section 2).
    func decide() async -> Decision {
        let words = context.head.headers["Authorization"]?.spaceSeparated ?? []
        if words.count == 2, words[0].isEqualIgnoringCase(to: "bearer") { return .respond(await answer(words[1])) }
        guard context.provider.traits.takesTokenInForm, context.head.method == .post else {
            return .respond(refuse(.noToken))
        }
        return context.head.answerForm { form in
            guard let token = form["access_token"] else { return refuse(.noToken) }
            return await answer(token)
        }
    }

    private func answer(_ token: String) async -> Response {
        let claims = await context.authority.keys.claims(of: token)
        do throws(BearerRefusal) {
            guard let claims, (claims["exp"]?.integer ?? 0) > context.now,
                let user = claims[context.provider.traits.personClaim]?.string.flatMap({
                    context.run.directory.user($0)
                })
            else { throw .invalidToken }
            let answer = try context.provider.userInfo(user, claims, context)
            return Response.json(.object(answer), headers: context.headers)
        } catch {
            return refuse(error)
        }
    }

    private func refuse(_ refusal: BearerRefusal) -> Response {
        let status: Status = refusal == .insufficientScope ? 403 : 401
        var response = Response.text("A bearer token of this authority is needed.", status: status)
        response.headers.append(context.headers)
        response.headers.append(
            "WWW-Authenticate", "Bearer realm=\"\(context.provider.tenant.name)\"\(refusal.rawValue)")
        return response
    }
}

/// Why a bearer token is refused, as the challenge says it (RFC 6750 section 3).
enum BearerRefusal: String, Error {
    case noToken = ""
    case invalidToken = ", error=\"invalid_token\""
    case insufficientScope = ", error=\"insufficient_scope\""
}
