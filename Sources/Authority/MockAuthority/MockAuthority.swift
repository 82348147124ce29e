package import HTTP
package import Platform
import Synchronization

/// A stand-in for Azure AD B2C: one object, without sockets, that answers requests and makes tokens.
///
/// Tests call it directly; the program mock-authority serves it. For development only: everyone who reaches it can get
/// a token of any account.
package final class MockAuthority: RequestHandler, Sendable {
    package let configuration: Configuration
    let keys: KeyRing
    let runs: TestRuns
    let seal: GrantSeal
    let onSignature: @Sendable () -> Void
    private let time: any TimeSource

    /// An authority of this configuration, which saves nothing.
    ///
    /// - Parameters:
    ///   - configuration: tenant, policies, clients, users.
    ///   - time: by which tokens are dated.
    ///   - keyGenerator: where signing keys come from; the first is generated at once, on another thread.
    ///   - onSignature: called once for each signature of a token.
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
    ///   - configuration: tenant, policies, clients, users; accounts of the folder come before them.
    ///   - time: by which tokens are dated.
    ///   - folder: where it keeps things.
    /// - Throws: why the folder cannot be used.
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
        .later { await self.route(head, scheme) }
    }

    private func route(_ head: RequestHead, _ scheme: String) async -> Decision {
        let base = "\(scheme)://\(head.headers["Host"] ?? "127.0.0.1:3001")"
        let host = HostContext(authority: self, head: head, base: base)
        if head.target.path.first == "_mock" { return await host.control() }
        if let route = Routes.ofHost.first(where: { $0.matches(head.target.path) }) { return await route.handle(host) }
        guard let url = PolicyURL(head.target) else { return .respond(NotFoundPage.noEndpoint) }
        guard let run = configuration.tenant.run(of: url.tenant) else { return .respond(NotFoundPage.noPolicy(url)) }
        if head.method == .post, url.isTokenEndpointWithoutPolicy {
            return decideByGrant(head, url, run: run, base: base)
        }
        guard let policy = url.policy.flatMap(configuration.policy(named:)) else {
            return .respond(NotFoundPage.noPolicy(url))
        }
        let context = RequestContext(
            authority: self, head: head, url: url, policy: policy, run: runs.run(run), base: base)
        return await context.decideWithFaults()
    }
}

extension RequestContext {
    /// The decision about a request, which is logged when its response is known; a fault may change it.
    func decideWithFaults() async -> Decision {
        guard let fault = url.routes.lazy.compactMap(\.fault).first.flatMap(run.faults.take) else {
            return logged(await decide())
        }
        return logged(await fault.apply { await decide() })
    }

    private func decide() async -> Decision {
        if head.method == .options { return .respond(preflight) }
        return await url.routes.decide(head.method, self)
    }
}
