package import Basics
package import HTTP
import OpenSSL
package import Platform
import Synchronization

/// A stand-in for Azure AD B2C, and beside it for Entra External ID and Entra ID: one object, without sockets, that
/// answers requests and makes tokens.
///
/// Tests call it directly; the program mock-authority serves it. For development only: everyone who reaches it can get
/// a token of any account.
package final class MockAuthority: Sendable {
    package let configuration: Configuration
    let b2c: TenantAuthority
    let others: [TenantAuthority]
    var tenants: [TenantAuthority] { [b2c] + others }

    /// An authority of this configuration, which saves nothing, and dates tokens by `time`.
    ///
    /// The first signing key of B2C is generated at once, on another thread.
    package convenience init(
        configuration: Configuration = Configuration(), time: any TimeSource = SystemTime(),
        keyGenerator: KeyGenerator = .generated
    ) {
        let services = TenantServices(time: time, generator: keyGenerator)
        self.init(configuration, services) { _ in TenantState() }
    }

    /// An authority of this configuration that keeps keys, accounts and grants in a folder.
    ///
    /// `client.pem` there is the certificate and the key of a client. The accounts of the folder come before those of the configuration.
    package convenience init(
        configuration: Configuration, time: any TimeSource = SystemTime(), folder: StateFolder
    ) throws(OperatorError) {
        let services = TenantServices(time: time, generator: .generated)
        var configuration = configuration
        if !configuration.entraTenants.isEmpty {
            let certificate = try ClientCertificate.kept(in: folder, time)
            configuration.entraTenants = configuration.entraTenants.map { $0.with(certificate) }
        }
        try self.init(configuration, services) { prefix throws(OperatorError) in
            try TenantState(in: folder.part(prefix))
        }
    }

    /// `state` loads a tenant from the files whose names begin with a text, which is empty for the B2C tenant.
    private init<Failure: Error>(
        _ configuration: Configuration, _ services: TenantServices, state: (String) throws(Failure) -> TenantState
    ) throws(Failure) {
        self.configuration = configuration
        let keptOfB2C = try state("")
        let keys = services.keys(KeyNaming(era: configuration.behaviour.era), keptOfB2C)
        keys.begin()
        b2c = TenantAuthority(configuration, services, keptOfB2C, keys: keys)
        let tenants = configuration.otherTenants
        let kept = try tenants.enumerated().map { index, tenant throws(Failure) in
            try state("\(tenant.profile.rawValue)-\(index).")
        }
        let ofEntra = zip(tenants, kept).first { $0.0.profile == .entra }?.1
        let organizations = services.keys(.microsoft, ofEntra ?? TenantState())
        let personal = services.keys(.personal, TenantState())
        let shared = configuration.behaviour.entra.highScaleCompatibility ? b2c.runs : nil
        others = zip(tenants, kept).map { tenant, kept in
            // All Entra tenants have the same keys. External ID has its own, and perhaps the accounts of B2C (P-38).
            tenant.profile == .entra
                ? TenantAuthority(tenant, services, kept, keys: organizations, personalKeys: personal)
                : TenantAuthority(
                    tenant, services, kept, keys: services.keys(.microsoft, kept), sharingAccountsOf: shared)
        }
    }

    /// Answers a request that came over this scheme, which the URLs of its answers name.
    package func decide(on head: RequestHead, scheme: String = "http") -> Decision {
        .later { await self.route(head, scheme) }
    }
}

/// One tenant of the authority: what is registered, its keys, accounts and grants.
final class TenantAuthority: Sendable {
    let configuration: Configuration
    let provider: any Provider
    let keys: KeyRing
    /// The keys of personal accounts, of Entra tenants.
    let personalKeys: KeyRing?
    let runs: TestRuns
    let seal: GrantSeal
    private let services: TenantServices

    /// A tenant of this configuration with what was kept of it, and perhaps with the accounts of another one.
    init(
        _ configuration: Configuration, _ services: TenantServices, _ kept: TenantState, keys: KeyRing,
        personalKeys: KeyRing? = nil, sharingAccountsOf other: TestRuns? = nil
    ) {
        self.configuration = configuration
        provider = configuration.provider
        self.services = services
        self.keys = keys
        self.personalKeys = personalKeys
        runs = TestRuns(
            configuration, services.runNames, home: kept.directory(of: configuration), sharingAccountsOf: other)
        seal = GrantSeal(secret: kept.secret)
    }

    /// Seconds since 1970, by the clock of a test run.
    func now(in run: TestRun) -> Int64 { services.time.wallMilliseconds / 1000 + run.skew.withLock { $0 } }

    /// The keys of the tenant, or those of a run that has its own.
    func keys(in run: TestRun) -> KeyRing { run.ownKeys.withLock { $0 } ?? keys }

    /// The run's own keys, which begin with these if it has none.
    func makeKeys(of run: TestRun, beginningWith state: KeyRing.State) -> KeyRing {
        let copy = services.keys(keys.naming, state)
        return run.ownKeys.withLock { own in
            let ring = own ?? copy
            own = ring
            return ring
        }
    }

    /// Signs with the active key, and shows the tokens to the people who look at the run.
    func signer(for run: TestRun) async throws(PrivateKeyError) -> TokenSigner {
        var signer = signer(with: try await keys(in: run).signing())
        signer.recording = (run, now(in: run))
        return signer
    }

    func signer(with key: TokenSigningKey) -> TokenSigner {
        TokenSigner(key: key, headerBeginsWithAlgorithm: provider.traits.headerBeginsWithAlgorithm)
    }
}

/// The clock, the source of keys and the names of test runs that all tenants of an authority share.
struct TenantServices: Sendable {
    let time: any TimeSource
    let generator: KeyGenerator
    let runNames = TestRunNames()

    func keys(_ naming: KeyNaming, _ kept: TenantState) -> KeyRing { keys(naming, kept.keys, kept.saveKeys) }

    func keys(
        _ naming: KeyNaming, _ state: KeyRing.State, _ save: @escaping @Sendable (KeyRing.State) -> Void = { _ in }
    ) -> KeyRing {
        KeyRing(
            state, generator: generator, naming: naming, now: { [time] in time.wallMilliseconds / 1000 }, changed: save)
    }
}

/// Answers the requests that come over one scheme, which the URLs of its responses name.
package struct AuthorityHandler: RequestHandler {
    private let authority: MockAuthority
    private let scheme: String

    package init(_ authority: MockAuthority, scheme: String) {
        self.authority = authority
        self.scheme = scheme
    }

    package func decide(on head: RequestHead) -> Decision { authority.decide(on: head, scheme: scheme) }
}
