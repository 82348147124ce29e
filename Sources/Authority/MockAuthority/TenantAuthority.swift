import OpenSSL
import Platform
import Synchronization

/// One tenant of the authority: what is registered, its keys, accounts and grants.
final class TenantAuthority: Sendable {
    let configuration: Configuration
    let keys: KeyRing
    /// The keys of personal accounts, of Entra tenants.
    let personalKeys: KeyRing?
    let runs: TestRuns
    let seal: GrantSeal
    private let parts: TenantParts

    /// A tenant of this configuration with what was kept of it, and perhaps with the accounts of another one.
    init(
        _ configuration: Configuration, _ parts: TenantParts, _ kept: TenantState, keys: KeyRing,
        personalKeys: KeyRing? = nil, sharingAccountsOf other: TestRuns? = nil
    ) {
        self.configuration = configuration
        self.parts = parts
        self.keys = keys
        self.personalKeys = personalKeys
        runs = TestRuns(
            configuration, parts.runNames, home: kept.directory(of: configuration), sharingAccountsOf: other)
        seal = GrantSeal(secret: kept.secret)
    }

    /// Seconds since 1970, by the clock of a test run.
    func now(in run: TestRun) -> Int64 { parts.time.wallMilliseconds / 1000 + run.skew.withLock { $0 } }

    func signer() async throws(PrivateKeyError) -> TokenSigner { signer(with: try await keys.signing()) }

    /// Signs with the active key, and shows the tokens to the people who look at the run.
    func signer(for run: TestRun) async throws(PrivateKeyError) -> TokenSigner {
        var signer = try await signer()
        signer.recording = (run, now(in: run))
        return signer
    }

    func signer(with key: TokenSigningKey) -> TokenSigner {
        TokenSigner(key: key, profile: configuration.profile, era: configuration.behaviour.era)
    }
}

/// The clock, the source of keys and the names of test runs that all tenants of an authority share.
struct TenantParts: Sendable {
    let time: any TimeSource
    let generator: KeyGenerator
    let runNames = TestRunNames()

    func keys(_ naming: KeyNaming, _ kept: TenantState) -> KeyRing {
        KeyRing(
            kept.keys, generator: generator, naming: naming, now: { [time] in time.wallMilliseconds / 1000 },
            changed: kept.saveKeys)
    }
}
