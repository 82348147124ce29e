internal import Basics
internal import OpenSSL
import Tokens

extension TokenEndpoint {
    /// The authorization code grant (RFC 6749 section 4.1.3) with proof keys (RFC 7636); a code works once.
    func codeGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenReply {
        guard let code = parameters["code"] else { throw .missingParameter("code") }
        guard let redirectURI = parameters["redirect_uri"] else { throw .missingParameter("redirect_uri") }
        let (grant, user) = try redeem(code, .code, client)
        if let bound = grant.binding.redirectURI, !bound.isSame(as: redirectURI) {
            throw .otherPolicy(actual: redirectURI, expected: bound)
        }
        if let challenge = grant.binding.challenge { try check(parameters["code_verifier"], challenge) }
        guard call.run.spend(grant, now: call.now) else { throw .grantRevoked }
        return try await issue(try issue(grant, user, client, parameters["scope"]))
    }

    private func check(_ verifier: String?, _ challenge: Grant.Challenge) throws(Refusal) {
        guard let verifier else { throw .missingVerifier }
        let text = challenge.hashed ? Base64URL.encode(SHA256.digest(Array(verifier.utf8))) : verifier
        guard text.isSame(as: challenge.text) else { throw .wrongVerifier }
    }

    /// The refresh grant (RFC 6749 section 6): always a new refresh token; the old one stays good unless switched off.
    func refreshGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenReply {
        guard let token = parameters["refresh_token"] else { throw .missingParameter("refresh_token") }
        let (grant, user) = try redeem(token, .refresh, client)
        let issue = try issue(grant, user, client, parameters["scope"])
        if configuration.behaviour.switches.strictRefresh {
            guard call.run.spend(grant, now: call.now) else { throw .grantRevoked }
        }
        return try await self.issue(issue, renewing: grant)
    }

    /// Opens a grant and checks that it is good for this client under this policy now.
    private func redeem(_ text: String, _ kind: Grant.Kind, _ client: Client) throws(Refusal) -> (Grant, User) {
        guard let members = call.authority.seal.open(text), let grant = Grant(members), grant.kind == kind else {
            throw .notOurGrant
        }
        let validity = grant.validity
        guard validity.expires > call.now else {
            throw .grantExpired(now: call.now, issued: validity.issued, expires: validity.expires)
        }
        guard grant.binding.client == client.id else { throw .otherClient(client.id) }
        guard grant.binding.policy == call.policy.name else {
            throw .otherPolicy(actual: grant.binding.policy, expected: call.policy.name)
        }
        guard let user = call.run.directory.user(grant.user) else { throw .accountGone }
        guard user.standing.generation == grant.generation, !user.standing.disabled else { throw .grantRevoked }
        return (grant, user)
    }

    /// What a grant gives: what was asked at first, since most libraries do not repeat it, or what is asked now.
    private func issue(_ grant: Grant, _ user: User, _ client: Client, _ words: String?) throws(Refusal) -> Issue {
        let scope = try scope(words ?? grant.binding.scope, client)
        return Issue(
            user: user, client: client, policy: call.policy, scope: scope, sign: grant.sign, now: call.now)
    }
}
