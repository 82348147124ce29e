internal import HTTP
internal import JSON
internal import OpenSSL

/// The token endpoint (RFC 6749 section 3.2): one file a grant, this one for what they share.
struct TokenEndpoint: Sendable {
    let call: Call

    var configuration: Configuration { call.configuration }
    private static let bodyLimit = 65536

    /// Reads the form of a `POST` and answers.
    func decide() -> Decision {
        guard call.head.method == .post else { return .respond(Reply.methodNotAllowed("POST")) }
        return .answerBody(limit: Self.bodyLimit) { body in await answer(body) }
    }

    private func answer(_ body: [UInt8]) async -> Response {
        // The service takes parameters from the query too.
        let parameters = Parameters(body: body, type: call.head.contentType)
            .followed(by: call.head.target.query)
        do throws(Refusal) {
            return Reply.json(try await grant(parameters), headers: call.headers)
        } catch {
            return refuse(error)
        }
    }

    /// Every refusal is a 400 with exactly two members.
    private func refuse(_ refusal: Refusal) -> Response {
        let description = refusal.description(correlation: call.correlation, now: call.now)
        return Reply.json(
            ["error": .string(refusal.error), "error_description": .string(description)], status: 400,
            headers: call.headers)
    }

    private func grant(_ parameters: Parameters) async throws(Refusal) -> JSONValue {
        guard let type = parameters["grant_type"] else { throw .missingParameter("grant_type") }
        let client = try ClientAuthentication(call: call).client(parameters)
        let reply: TokenReply
        switch type {
        case "authorization_code": reply = try await codeGrant(parameters, client)
        case "refresh_token": reply = try await refreshGrant(parameters, client)
        case "password": reply = try await passwordGrant(parameters, client)
        case "client_credentials": return try await clientCredentialsGrant(parameters, client)
        default: throw .unsupportedGrant(type)
        }
        return reply.json(clientInfo: parameters["client_info"] == "1")
    }

    /// Signs what was granted; renewing a grant always gives a refresh token, otherwise it must have been asked for.
    func issue(_ issue: Issue, renewing old: Grant? = nil) async throws(Refusal) -> TokenReply {
        do throws(RSAError) {
            let signer = try await call.authority.signer()
            var reply = try TokenReply(issue, configuration, signer: signer)
            if old != nil || issue.scope.offline {
                reply.refreshToken = refreshToken(issue, scope: old?.binding.scope ?? issue.scope.text)
            }
            return reply
        } catch {
            throw .internalError
        }
    }

    private func refreshToken(_ issue: Issue, scope: String) -> (text: String, lifetime: Int64) {
        let lifetime = issue.client.singlePage ? 86400 : configuration.behaviour.lifetimes.refresh
        let grant = Grant(
            kind: .refresh, binding: .init(client: issue.client.id, policy: issue.policy.name, scope: scope),
            user: issue.user.objectID, generation: issue.user.standing.generation, sign: issue.sign,
            validity: .init(issued: issue.now, expires: issue.now + lifetime))
        return (call.authority.seal.seal(grant.members), lifetime)
    }

    /// The scope that was asked for.
    func scope(_ text: String, _ client: Client) throws(Refusal) -> Scope {
        try Scope(text, client: client, applications: configuration.applications)
    }
}
