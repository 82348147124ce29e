import HTTP
import Platform

/// The keys that all Entra tenants have.
struct EntraKeyRings: Sendable {
    let organizations: KeyRing
    let personal: KeyRing
}

/// What the tenants of an authority are made with.
struct TenantParts: Sendable {
    let time: any TimeSource
    let generator: KeyGenerator
    let onSignature: @Sendable () -> Void
    private let runNames = TestRunNames()

    init(time: any TimeSource, generator: KeyGenerator, onSignature: @escaping @Sendable () -> Void) {
        self.time = time
        self.generator = generator
        self.onSignature = onSignature
    }

    /// The B2C tenant; its first key is begun at once.
    func b2c(_ configuration: Configuration, _ kept: TenantState) -> TenantAuthority {
        let keys = keys(.b2c(configuration.behaviour.era), kept)
        keys.begin()
        let runs = TestRuns(configuration, runNames, home: kept.directory(of: configuration))
        return tenant(configuration, keys: keys, runs: runs, kept)
    }

    /// A tenant of External ID or Entra; External ID has the accounts of B2C where that is switched on (P-38).
    ///
    /// All Entra tenants have the same keys, and External ID has its own.
    func other(
        _ configuration: Configuration, _ kept: TenantState, _ rings: EntraKeyRings, beside b2c: TenantAuthority
    ) -> TenantAuthority {
        let isExternal = configuration.profile == .externalID
        let sharing = isExternal && configuration.behaviour.entra.highScaleCompatibility ? b2c.runs : nil
        let runs = TestRuns(
            configuration, runNames, home: kept.directory(of: configuration), sharingAccountsOf: sharing)
        guard isExternal else {
            return tenant(configuration, keys: rings.organizations, personalKeys: rings.personal, runs: runs, kept)
        }
        return tenant(configuration, keys: keys(.microsoft, kept), runs: runs, kept)
    }

    func keys(_ naming: KeyNaming, _ kept: TenantState) -> KeyRing {
        KeyRing(
            kept.saved.keys, generator: generator, naming: naming, now: { [time] in time.wallMilliseconds / 1000 },
            changed: kept.saveKeys)
    }

    private func tenant(
        _ configuration: Configuration, keys: KeyRing, personalKeys: KeyRing? = nil, runs: TestRuns,
        _ kept: TenantState
    ) -> TenantAuthority {
        TenantAuthority(
            configuration, keys: keys, personalKeys: personalKeys, runs: runs, secret: kept.saved.secret, time: time,
            onSignature: onSignature)
    }
}
