import HTTP
import OpenSSL
import Platform
import Synchronization

/// One tenant of the authority: what is registered, its keys, accounts and grants.
final class TenantAuthority: Sendable {
    let configuration: Configuration
    /// The keys that sign, and can be changed by the controls.
    let keys: KeyRing
    /// The keys of personal accounts, of Entra tenants.
    let personalKeys: KeyRing?
    let runs: TestRuns
    let seal: GrantSeal
    private let time: any TimeSource
    private let onSignature: @Sendable () -> Void

    init(
        _ configuration: Configuration, keys: KeyRing, personalKeys: KeyRing? = nil,
        runs: TestRuns, secret: [UInt8], time: any TimeSource, onSignature: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.keys = keys
        self.personalKeys = personalKeys
        self.runs = runs
        seal = GrantSeal(secret: secret)
        self.time = time
        self.onSignature = onSignature
    }

    /// Seconds since 1970, by the clock of a test run.
    func now(in run: TestRun) -> Int64 {
        time.wallMilliseconds / 1000 + run.skew.withLock { $0 }
    }

    /// Signs with the active key.
    func signer() async throws(RSAError) -> TokenSigner {
        signer(with: try await keys.signing())
    }

    /// Signs with the active key, and shows the tokens to the people who look at the run.
    func signer(for run: TestRun) async throws(RSAError) -> TokenSigner {
        var signer = try await signer()
        signer.recording = (run, now(in: run))
        return signer
    }

    func signer(with key: TokenSigningKey) -> TokenSigner {
        TokenSigner(
            key: key, profile: configuration.profile, era: configuration.behaviour.era, onSignature: onSignature)
    }
}
