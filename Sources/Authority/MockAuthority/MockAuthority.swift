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
    let runs: Runs
    let seal: GrantSeal
    private let time: any TimeSource

    /// An authority of this configuration, which forgets everything with its end.
    ///
    /// - Parameters:
    ///   - configuration: tenant, policies, clients, users.
    ///   - time: by which tokens are dated.
    ///   - keySource: where signing keys come from; the first one is begun at once, on another thread.
    package init(
        configuration: Configuration = Configuration(), time: any TimeSource = SystemTime(),
        keySource: KeySource = .generated
    ) {
        self.configuration = configuration
        self.time = time
        let state = SavedState()
        runs = Runs(configuration, home: Directory(configuration.users))
        seal = GrantSeal(secret: state.secret)
        keys = KeyRing(
            state.keys, source: keySource, era: configuration.behaviour.era, now: { time.wallMilliseconds / 1000 },
            changed: { _ in })
    }

    /// An authority of this configuration that keeps keys, accounts and grants in a folder.
    ///
    /// - Parameters:
    ///   - configuration: tenant, policies, clients, users; accounts of the folder stand before them.
    ///   - time: by which tokens are dated.
    ///   - folder: where it keeps things.
    /// - Throws: ``StateFailure`` with a sentence for the operator.
    package init(
        configuration: Configuration, time: any TimeSource = SystemTime(), folder: StateFolder
    ) throws(StateFailure) {
        self.configuration = configuration
        self.time = time
        let state = try SavedState(folder)
        let kept = state.users ?? []
        let more = configuration.users.filter { user in !kept.contains { $0.objectID == user.objectID } }
        runs = Runs(configuration, home: Directory(kept + more) { folder.save($0) })
        seal = GrantSeal(secret: state.secret)
        keys = KeyRing(
            state.keys, source: .generated, era: configuration.behaviour.era, now: { time.wallMilliseconds / 1000 },
            changed: { folder.save($0) })
    }

    func now(in run: Run) -> Int64 {
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
        guard let address = Address(head.target) else { return .respond(Refused.noEndpoint) }
        guard let run = configuration.tenant.run(of: address.tenant),
            let policy = address.policy.flatMap(configuration.policy(named:))
        else { return .respond(Refused.noPolicy(address)) }
        let call = Call(
            authority: self, head: head, address: address, policy: policy, run: runs.run(run), base: base)
        guard let fault = call.address.endpoint.place.flatMap(call.run.faults.take) else {
            return call.noted(await call.decide())
        }
        return call.noted(await fault.apply { await call.decide() })
    }
}

extension Call {
    /// Answers at the endpoint of the address.
    func decide() async -> Decision {
        if head.method == .options { return .respond(CrossOrigin.preflight(self)) }
        return switch address.endpoint {
        case .metadata: .respond(metadata)
        case .keys: .respond(await keySet())
        case .token: TokenEndpoint(call: self).decide()
        case .authorize: await AuthorizeEndpoint(call: self).decide()
        case .page: PageEndpoint(call: self).plain()
        case .selfAsserted: PageEndpoint(call: self).selfAsserted()
        case .confirmed: .respond(await PageEndpoint(call: self).confirmed())
        case .logout: .respond(await LogoutEndpoint(call: self).respond())
        case .userInfo: .respond(await UserInfoEndpoint(call: self).respond())
        }
    }

    private var isReading: Bool { head.method == .get || head.method == .head }

    private var metadata: Response {
        guard isReading else { return Reply.methodNotAllowed("GET") }
        let metadata = Metadata(configuration: configuration, policy: policy, address: address, base: base)
        return Reply.json(metadata.json, headers: openToAll)
    }

    private func keySet() async -> Response {
        guard isReading else { return Reply.methodNotAllowed("GET") }
        do throws(RSAError) {
            let published = try await authority.keys.current().published
            return Reply.json(["keys": .array(published.map(\.publicKey))], headers: openToAll)
        } catch {
            return Reply.text("No key could be made.", status: 500)
        }
    }

    /// Public facts: any page may read them.
    private var openToAll: HeaderFields {
        ["Access-Control-Allow-Origin": "*", "Cache-Control": "private"]
    }
}
