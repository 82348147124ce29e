import Basics
import OpenSSL
import Synchronization
import Tokens

extension TokenEndpoint {
    /// The authorization code grant (RFC 6749 section 4.1.3) with proof keys (RFC 7636); a code works once.
    func codeGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenResponse {
        let (code, redirectURI) = (try parameters.required("code"), try parameters.required("redirect_uri"))
        let (grant, user) = try redeem(code, .code, client)
        if let bound = grant.binding.redirectURI, !bound.isSame(as: redirectURI) {
            throw .grantOfOtherEndpoint(actual: redirectURI, expected: bound)
        }
        let isStrict = configuration.profile == .strict
        if let challenge = grant.binding.challenge {
            try check(parameters["code_verifier"], challenge)
        } else if isStrict, parameters["code_verifier"] != nil {
            // RFC 9700 section 2.1.1: such a code was requested without the client's proof key.
            throw .wrongVerifier
        }
        guard spend(grant) else { throw .codeRedeemed }
        let scopeText = isStrict ? nil : parameters["scope"]
        return try await signTokens(for: try grantedRequest(grant, user, client, scopeText))
    }

    private func check(_ verifier: String?, _ challenge: Grant.Challenge) throws(Refusal) {
        guard let verifier else { throw .missingVerifier }
        let text = challenge.hashed ? Base64URL.encode(SHA256.digest(Array(verifier.utf8))) : verifier
        guard text.isSame(as: challenge.text) else { throw .wrongVerifier }
    }

    /// The refresh grant (RFC 6749 section 6): always a new refresh token; the old one stays good unless switched off.
    func refreshGrant(_ parameters: Parameters, _ client: Client) async throws(Refusal) -> TokenResponse {
        let (grant, user) = try redeem(parameters.required("refresh_token"), .refresh, client)
        let granted = try grantedRequest(grant, user, client, parameters["scope"])
        let isSpent = configuration.behaviour.strictRefresh && !spend(grant)
        guard !isSpent, !context.run.hasEnded(family: grant.family) else { throw .grantRevoked }
        return try await signTokens(for: granted, renewing: grant)
    }

    /// Whether the grant is redeemed for the first time; if not, no refresh token of its family is good any more.
    private func spend(_ grant: Grant) -> Bool {
        let longest = max(configuration.refreshLifetime, Self.singlePageLifetime)
        return context.run.redeemed.withLock { $0.spend(grant, now: context.now, longest: longest) }
    }

    /// Opens a grant and checks that it is good for this client under this policy now.
    private func redeem(_ text: String, _ kind: Grant.Kind, _ client: Client) throws(Refusal) -> (Grant, User) {
        guard let members = context.authority.seal.open(text), let grant = Grant(members), grant.kind == kind else {
            throw .notOurGrant
        }
        guard grant.validity.expires > context.now else {
            throw .grantExpired(grant, now: context.now, singlePage: grant.binding.singlePage)
        }
        guard grant.binding.client == client.id else { throw .otherClient(client.id) }
        guard grant.binding.policy == context.policy.name else {
            throw .grantOfOtherEndpoint(actual: grant.binding.policy, expected: context.policy.name)
        }
        guard let user = context.run.directory.user(grant.user) else { throw .accountGone }
        guard user.status.generation == grant.generation, !user.status.disabled else { throw .grantRevoked }
        return (grant, user)
    }

    /// Grants the scope of this request, or else that of the first one, since most libraries do not repeat the scope.
    private func grantedRequest(
        _ grant: Grant, _ user: User, _ client: Client, _ scopeText: String?
    ) throws(Refusal) -> GrantedRequest {
        let scope = try scope(scopeText ?? grant.binding.scope, client)
        if configuration.profile == .strict {
            let known = grant.binding.scope.spaceSeparated
            guard scope.asked.allSatisfy(known.contains) else { throw .scopeNotGranted }
        }
        var granted = granted(user, client, scope, grant.signIn)
        granted.family = grant.family
        return granted
    }
}
