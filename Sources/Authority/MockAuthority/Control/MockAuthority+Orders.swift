package import JSON
internal import OpenSSL

extension MockAuthority {
    /// One token, good or bad as ordered: an access token, or an ID token where the scope asks for nothing else.
    ///
    /// - Parameters:
    ///   - order: what is wanted.
    ///   - run: in which run; the empty name is the run of those who name none.
    /// - Returns: the compact form.
    /// - Throws: ``OrderError`` with a sentence for the person who asked.
    package func issueToken(_ order: TokenOrder, run: String = "") async throws(OrderError) -> String {
        try await filled(order, run: runs.run(run)).token
    }

    /// The key set, as the endpoint shows it.
    package func keySet() async throws(OrderError) -> JSONValue {
        do throws(RSAError) {
            return ["keys": .array(try await keys.current().published.map(\.publicKey))]
        } catch {
            throw .key
        }
    }

    /// Does something to the keys.
    package func change(_ step: KeyStep) async throws(OrderError) {
        do throws(RSAError) {
            _ = try await keys.take(step)
        } catch {
            throw .key
        }
    }

    /// What signs now.
    func signer() async throws(RSAError) -> TokenSigner {
        TokenSigner(key: try await keys.signing(), era: configuration.behaviour.era)
    }

    /// The token of an order and the whole reply around it.
    func filled(_ order: TokenOrder, run: Run) async throws(OrderError) -> (token: String, reply: JSONValue) {
        let issue = try issue(order, run: run)
        do throws(RSAError) {
            let signer = try await signer()
            if order.bad == nil, order.changes == ClaimChanges(nonce: order.changes.nonce) {
                let reply = try TokenReply(issue, configuration, signer: signer)
                return (reply.accessToken ?? reply.idToken ?? "", reply.json(clientInfo: false))
            }
            let token = try await changed(order, issue, signer)
            return (token, ["access_token": .string(token), "token_type": "Bearer"])
        } catch {
            throw .key
        }
    }

    private func changed(_ order: TokenOrder, _ issue: Issue, _ signer: TokenSigner) async throws(RSAError) -> String {
        let builder = ClaimsBuilder(configuration: configuration, issue: issue)
        var claims = builder.idToken
        if let audience = issue.scope.audience, order.bad != .idToken {
            claims = builder.accessToken(audience: audience)
        }
        order.changes.apply(to: &claims, now: issue.now, lifetime: configuration.behaviour.lifetimes.token)
        guard let bad = order.bad else { return try signer.sign(claims) }
        let forge = TokenForge(
            keys: keys, signer: signer, configuration: configuration, policy: issue.policy, now: issue.now)
        return try await forge.forge(bad, from: claims)
    }

    private func issue(_ order: TokenOrder, run: Run) throws(OrderError) -> Issue {
        guard let user = run.directory.user(called: order.user) else {
            throw .unknownUser(order.user, known: run.directory.all.map(\.email))
        }
        let (policy, client) = (try policy(order.policy), try client(order.client))
        let now = now(in: run)
        let words = order.scope ?? (order.bad == nil ? client.id : scopesOfAPI ?? client.id)
        do throws(Refusal) {
            let scope = try Scope(words, client: client, applications: configuration.applications)
            let sign = Issue.SignIn(
                time: now, nonce: order.changes.nonce, local: policy.allowsPasswordGrant)
            return Issue(user: user, client: client, policy: policy, scope: scope, sign: sign, now: now)
        } catch {
            throw .scope(error.text)
        }
    }

    /// What bad tokens carry, so that nothing but the named fault is wrong with them.
    private var scopesOfAPI: String? {
        configuration.applications.resources.first.map { resource in
            resource.scopes.map { "\(resource.identifier)/\($0)" }.joined(separator: " ")
        }
    }

    private func policy(_ name: String?) throws(OrderError) -> Policy {
        let policies = configuration.policies
        if let name {
            if let policy = configuration.policy(named: name) { return policy }
            throw .unknownPolicy(name, known: policies.map(\.name))
        }
        let first = policies.first { $0.kind == .signIn || $0.kind == .signUpOrSignIn } ?? policies.first
        guard let first else { throw .unknownPolicy("", known: []) }
        return first
    }

    private func client(_ id: String?) throws(OrderError) -> Client {
        let clients = configuration.applications.clients
        guard let client = id.map({ configuration.applications.client($0) }) ?? clients.first else {
            throw .unknownClient(id ?? "", known: clients.map(\.id))
        }
        return client
    }
}
