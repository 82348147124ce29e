import Basics
package import JSON
import OpenSSL

extension MockAuthority {
    /// One token without a sign-in: an access token, or an ID token where the scope names no resource.
    ///
    /// `run` names the test run.
    package func issueToken(
        _ specification: TokenSpecification, run: String = ""
    ) async throws(TokenSpecificationError) -> String {
        try await token(specification, run: runs.run(run))
    }

    /// The key set, as its endpoint shows it.
    package func keySet() async throws(TokenSpecificationError) -> JSONValue {
        do throws(RSAError) {
            return try await keys.current().keySet
        } catch {
            throw .key
        }
    }

    package func change(_ step: KeyStep) async throws(TokenSpecificationError) {
        do throws(RSAError) {
            _ = try await keys.take(step)
        } catch {
            throw .key
        }
    }

    /// Signs with the active key.
    func signer() async throws(RSAError) -> TokenSigner {
        TokenSigner(key: try await keys.signing(), era: configuration.behaviour.era, onSignature: onSignature)
    }

    func token(_ specification: TokenSpecification, run: TestRun) async throws(TokenSpecificationError) -> String {
        let granted = try grantedRequest(specification, run: run)
        let builder = ClaimsBuilder(configuration: configuration, granted: granted)
        var claims = builder.idToken()
        if let audience = granted.scope.audience, specification.bad != .idToken {
            claims = builder.accessToken(audience: audience)
        }
        specification.changes.apply(
            to: &claims, now: granted.now, lifetime: configuration.behaviour.lifetimes.token)
        do throws(RSAError) {
            let signer = try await signer()
            guard let bad = specification.bad else { return try signer.sign(claims) }
            let badSigner = BadTokenSigner(
                keys: keys, signer: signer, configuration: configuration, policy: granted.policy, now: granted.now)
            return try await badSigner.sign(claims, as: bad)
        } catch {
            throw .key
        }
    }

    /// The token in a response like that of the token endpoint.
    func tokenResponse(
        _ specification: TokenSpecification, run: TestRun
    ) async throws(TokenSpecificationError) -> JSONValue {
        guard specification.bad == nil, specification.changes == ClaimChanges(nonce: specification.changes.nonce) else {
            return ["access_token": .string(try await token(specification, run: run)), "token_type": "Bearer"]
        }
        let granted = try grantedRequest(specification, run: run)
        do throws(RSAError) {
            let response = try TokenResponse(
                signing: granted, configuration, try await signer(), era: configuration.behaviour.era)
            return response.json(clientInfo: false)
        } catch {
            throw .key
        }
    }

    private func grantedRequest(
        _ specification: TokenSpecification, run: TestRun
    ) throws(TokenSpecificationError) -> GrantedRequest {
        guard let user = run.directory.user(called: specification.user) else {
            throw .unknownUser(specification.user, known: run.directory.all.map(\.email))
        }
        let (policy, client) = (try policy(specification.policy), try client(specification.client))
        let now = now(in: run)
        let text = specification.scope ?? (specification.bad == nil ? client.id : scopesOfAPI ?? client.id)
        let applications = configuration.applications
        let scope = try rethrowing(as: { TokenSpecificationError.scope($0.text) }) { () throws(Refusal) in
            try Scope(text, client: client, applications: applications)
        }
        let signIn = SignIn(time: now, nonce: specification.changes.nonce, local: policy.allowsPasswordGrant)
        return GrantedRequest(user: user, client: client, policy: policy, scope: scope, signIn: signIn, now: now)
    }

    /// The scope of bad tokens, so that they have no second defect.
    private var scopesOfAPI: String? {
        configuration.applications.resources.first.map { resource in
            resource.scopes.map { "\(resource.identifier)/\($0)" }.joined(separator: " ")
        }
    }

    private func policy(_ name: String?) throws(TokenSpecificationError) -> Policy {
        let policies = configuration.policies
        if let name {
            if let policy = configuration.policy(named: name) { return policy }
            throw .unknownPolicy(name, known: policies.map(\.name))
        }
        let first = policies.first { $0.kind == .signIn || $0.kind == .signUpOrSignIn } ?? policies.first
        guard let first else { throw .unknownPolicy("", known: []) }
        return first
    }

    private func client(_ id: String?) throws(TokenSpecificationError) -> Client {
        let clients = configuration.applications.clients
        guard let client = id.map({ configuration.applications.client($0) }) ?? clients.first else {
            throw .unknownClient(id ?? "", known: clients.map(\.id))
        }
        return client
    }
}
