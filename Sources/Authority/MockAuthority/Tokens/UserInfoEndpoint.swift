import Basics
import HTTP
import JSON

/// The user information endpoint: that of custom policies of B2C, or that of OpenID Connect Core 5.3.
extension RequestContext {
    /// Takes the access token from the header, or at a strict provider from the form of a `POST` (RFC 6750 section 2).
    func userInfo() async -> Decision {
        let words = head.headers["Authorization"]?.spaceSeparated ?? []
        if words.count == 2, words[0].isEqualIgnoringCase(to: "bearer") {
            return .respond(await userInfo(of: words[1]))
        }
        guard provider.traits.takesTokenInForm, head.method == .post else { return .respond(refuse(.noToken)) }
        return head.answerForm { form in
            guard let token = form["access_token"] else { return refuse(.noToken) }
            return await userInfo(of: token)
        }
    }

    private func userInfo(of token: String) async -> Response {
        let claims = await keys.claims(of: token)
        do throws(BearerRefusal) {
            guard let claims, (claims["exp"]?.integer ?? 0) > now,
                let user = claims[provider.traits.personClaim]?.string.flatMap({ run.directory.user($0) })
            else { throw .invalidToken }
            let answer = try provider.userInfo(user, claims, self)
            return Response.json(.object(answer), headers: headers)
        } catch {
            return refuse(error)
        }
    }

    private func refuse(_ refusal: BearerRefusal) -> Response {
        let status: Status = refusal == .insufficientScope ? 403 : 401
        var response = Response.text("A bearer token of this authority is needed.", status: status)
        response.headers.append(headers)
        response.headers.append("WWW-Authenticate", "Bearer realm=\"\(provider.tenant.name)\"\(refusal.rawValue)")
        return response
    }
}

/// Why a bearer token is refused, as the challenge says it (RFC 6750 section 3).
enum BearerRefusal: String, Error {
    case noToken = ""
    case invalidToken = ", error=\"invalid_token\""
    case insufficientScope = ", error=\"insufficient_scope\""
}
