package import HTTP
internal import JSON
internal import OpenSSL
package import Platform
internal import Synchronization

/// A stand-in for Azure AD B2C: one object, without sockets, that answers requests and makes tokens.
///
/// Tests hold it directly; a program hangs it behind a server. For development only: whoever reaches it gets a token
/// of anybody.
package final class MockAuthority: RequestHandler, Sendable {
    /// What it was made with.
    package let configuration: Configuration
    let keys: KeyRing
    let runs: TestRuns
    let seal: GrantSeal
    let onSignature: @Sendable () -> Void
    private let time: any TimeSource

    /// An authority of this configuration, which forgets everything with its end.
    ///
    /// - Parameters:
    ///   - configuration: tenant, policies, clients, users.
    ///   - time: by which tokens are dated.
    ///   - keyGenerator: where signing keys come from; the first one is begun at once, on another thread.
    package init(
        configuration: Configuration = Configuration(), time: any TimeSource = SystemTime(),
        keyGenerator: KeyGenerator = .generated, onSignature: @escaping @Sendable () -> Void = {}
    ) {
        self.onSignature = onSignature
        self.configuration = configuration
        self.time = time
        let state = SavedState()
        runs = TestRuns(configuration, home: Directory(configuration.users))
        seal = GrantSeal(secret: state.secret)
        keys = KeyRing(
            state.keys, generator: keyGenerator, era: configuration.behaviour.era,
            now: { time.wallMilliseconds / 1000 },
            changed: { _ in })
    }

    /// An authority of this configuration that keeps keys, accounts and grants in a folder.
    ///
    /// - Parameters:
    ///   - configuration: tenant, policies, clients, users; accounts of the folder stand before them.
    ///   - time: by which tokens are dated.
    ///   - folder: where it keeps things.
    /// - Throws: ``StateFolderError`` with a sentence for the operator.
    package init(
        configuration: Configuration, time: any TimeSource = SystemTime(), folder: StateFolder
    ) throws(StateFolderError) {
        onSignature = {}
        self.configuration = configuration
        self.time = time
        let state = try SavedState(folder)
        let kept = state.users ?? []
        let more = configuration.users.filter { user in !kept.contains { $0.objectID == user.objectID } }
        runs = TestRuns(configuration, home: Directory(kept + more) { folder.save($0) })
        seal = GrantSeal(secret: state.secret)
        keys = KeyRing(
            state.keys, generator: .generated, era: configuration.behaviour.era, now: { time.wallMilliseconds / 1000 },
            changed: { folder.save($0) })
    }

    func now(in run: TestRun) -> Int64 {
        time.wallMilliseconds / 1000 + run.skew.withLock { $0 }
    }

    /// See ``RequestHandler/decide(on:)``.
    package func decide(on head: RequestHead) -> Decision {
        decide(on: head, scheme: "http")
    }

    /// Answers a request that came over this scheme, which the URLs of its answers name.
    package func decide(on head: RequestHead, scheme: String) -> Decision {
        .later { await self.judge(head, scheme) }
    }

    private func judge(_ head: RequestHead, _ scheme: String) async -> Decision {
        let base = "\(scheme)://\(head.headers["Host"] ?? "127.0.0.1:3001")"
        if head.target.path.first == "_mock" {
            return await ControlEndpoint(authority: self, head: head, base: base).decide()
        }
        if let response = SideEndpoints(configuration: configuration, base: base).respond(to: head) {
            return .respond(response)
        }
        guard let address = PolicyURL(head.target) else { return .respond(NotFoundPage.noEndpoint) }
        guard let run = configuration.tenant.run(of: address.tenant),
            let policy = address.policy.flatMap(configuration.policy(named:))
        else { return .respond(NotFoundPage.noPolicy(address)) }
        let context = RequestContext(
            authority: self, head: head, address: address, policy: policy, run: runs.run(run), base: base)
        guard let fault = context.address.endpoint.place.flatMap(context.run.faults.take) else {
            return context.noted(await context.decide())
        }
        return context.noted(await fault.apply { await context.decide() })
    }
}

extension RequestContext {
    /// Answers at the endpoint of the address.
    func decide() async -> Decision {
        if head.method == .options { return .respond(CrossOrigin.preflight(self)) }
        return switch address.endpoint {
        case .metadata: .respond(metadata)
        case .keys: .respond(await keySet())
        case .token: TokenEndpoint(context: self).decide()
        case .authorize: await AuthorizeEndpoint(context: self).decide()
        case .page: PageEndpoint(context: self).plain()
        case .selfAsserted: PageEndpoint(context: self).selfAsserted()
        case .confirmed: .respond(await PageEndpoint(context: self).confirmed())
        case .logout: .respond(await LogoutEndpoint(context: self).respond())
        case .userInfo: .respond(await UserInfoEndpoint(context: self).respond())
        }
    }

    private var isReading: Bool { head.method == .get || head.method == .head }

    private var metadata: Response {
        guard isReading else { return Response.methodNotAllowed("GET") }
        let metadata = Metadata(configuration: configuration, policy: policy, address: address, base: base)
        return Response.json(metadata.json, headers: openToAll)
    }

    private func keySet() async -> Response {
        guard isReading else { return Response.methodNotAllowed("GET") }
        do throws(RSAError) {
            let published = try await authority.keys.current().published
            return Response.json(["keys": .array(published.map(\.publicKey))], headers: openToAll)
        } catch {
            return Response.text("No key could be made.", status: 500)
        }
    }

    /// Public facts: any page may read them.
    private var openToAll: HeaderFields {
        ["Access-Control-Allow-Origin": "*", "Cache-Control": "private"]
    }
}
