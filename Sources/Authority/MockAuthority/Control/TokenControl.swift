import Basics
import JSON
import OpenSSL

extension MockAuthority {
    /// The key of this `kid`, of any tenant.
    func key(_ identifier: String) async throws(InputError) -> TokenSigningKey {
        do throws(PrivateKeyError) {
            for tenant in [b2c] + others {
                let known = try await tenant.keys.current().all
                if let found = known.first(where: { $0.key.identifier == identifier }) { return found.key }
            }
        } catch {
            throw .noKey
        }
        throw InputError(
            message: "No tenant has a key '\(identifier)'. /_mock/keys?profile=external-id lists a tenant's keys.")
    }
}

// Tokens of a tenant without a sign-in.
extension HostContext {
    /// Signs with the key of the specification, which may be another tenant's.
    private func signer(_ specification: TokenSpecification) async throws(InputError) -> TokenSigner {
        if let kid = specification.key { return authority.signer(with: try await mock.key(kid)) }
        do throws(PrivateKeyError) {
            return try await authority.signer()
        } catch {
            throw .noKey
        }
    }

    func token(_ specification: TokenSpecification) async throws(InputError) -> String {
        let token = try await signed(specification)
        run.issuedTokens.append(
            IssuedToken(time: authority.now(in: run), token: token, defect: specification.bad?.name))
        return token
    }

    private func signed(_ specification: TokenSpecification) async throws(InputError) -> String {
        let granted = try grantedRequest(specification)
        let claims = authority.claims(of: granted, at: base)
        let maker = BadTokenSigner(
            authority: authority, granted: granted, claims: claims, signer: try await signer(specification), base: base)
        return try await maker.sign(specification.bad ?? .withoutDefect, specification.changes)
    }

    /// The token in a response like that of the token endpoint.
    func tokenResponse(_ specification: TokenSpecification) async throws(InputError) -> JSONValue {
        guard specification.isGood else {
            return ["access_token": .string(try await token(specification)), "token_type": "Bearer"]
        }
        let granted = try grantedRequest(specification)
        do throws(PrivateKeyError) {
            return try TokenResponse(
                signing: granted, of: authority, by: await authority.signer(for: run), at: base,
                era: configuration.behaviour.era
            ).json(clientInfo: false)
        } catch {
            throw .noKey
        }
    }

    private func grantedRequest(_ specification: TokenSpecification) throws(InputError) -> GrantedRequest {
        guard let user = run.directory.user(called: specification.user) else {
            throw unknown("user", specification.user, known: run.directory.all.map(\.email))
        }
        let (policy, client) = (try policy(specification.policy), try client(specification.client))
        let now = authority.now(in: run)
        let text = specification.scope ?? scope(of: client, forBadToken: specification.bad != nil)
        let scope = try rethrowing(as: { InputError(message: $0.text) }) { () throws(Refusal) in
            try Scope(text, client: client, configuration)
        }
        let signIn = SignIn(time: now, nonce: specification.changes.nonce, local: policy.allowsPasswordGrant)
        return GrantedRequest(user: user, client: client, policy: policy, scope: scope, signIn: signIn, now: now)
    }

    /// The scope where none is asked.
    ///
    /// B2C's tokens are for the client itself, but those with a defect have the scopes of the API, so that they have no
    /// second one. The others are what MSAL asks for.
    private func scope(of client: Client, forBadToken isBad: Bool) -> String {
        guard configuration.profile == .b2c else { return "openid profile \(scopesOfAPI ?? "")" }
        return isBad ? scopesOfAPI ?? client.id : client.id
    }

    private var scopesOfAPI: String? {
        configuration.applications.resources.first.map { resource in
            resource.scopes.map { "\(resource.identifier)/\($0)" }.joined(separator: " ")
        }
    }

    private func policy(_ name: String?) throws(InputError) -> Policy {
        let policies = configuration.policies
        if let name {
            if let policy = configuration.policy(named: name) { return policy }
            throw unknown("policy", name, known: policies.map(\.name))
        }
        let first = policies.first { $0.kind == .signIn || $0.kind == .signUpOrSignIn } ?? policies.first
        guard let first else { throw unknown("policy", "", known: []) }
        return first
    }

    private func client(_ id: String?) throws(InputError) -> Client {
        let clients = configuration.applications.clients
        guard let client = id.map({ configuration.applications.client($0) }) ?? clients.first else {
            throw unknown("client", id ?? "", known: clients.map(\.id))
        }
        return client
    }

    private func unknown(_ kind: String, _ name: String, known: [String]) -> InputError {
        InputError(message: "There is no \(kind) '\(name)'. Known: \(known.joined(separator: ", ")).")
    }
}
