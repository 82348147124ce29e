package import Basics
package import HTTP
package import Platform

/// A stand-in for Azure AD B2C, and beside it for Entra External ID and Entra ID: one object, without sockets, that
/// answers requests and makes tokens.
///
/// Tests call it directly; the program mock-authority serves it. For development only: everyone who reaches it can get
/// a token of any account.
package final class MockAuthority: Sendable {
    package let configuration: Configuration
    let b2c: TenantAuthority
    /// The tenants of External ID and Entra.
    let others: [TenantAuthority]

    /// An authority of this configuration, which saves nothing, and dates tokens by `time`.
    ///
    /// The first signing key of B2C is generated at once, on another thread.
    package convenience init(
        configuration: Configuration = Configuration(), time: any TimeSource = SystemTime(),
        keyGenerator: KeyGenerator = .generated
    ) {
        let parts = TenantParts(time: time, generator: keyGenerator)
        self.init(configuration, parts) { _ in TenantState() }
    }

    /// An authority of this configuration that keeps keys, accounts and grants in a folder.
    ///
    /// The accounts of the folder come before those of the configuration.
    package convenience init(
        configuration: Configuration, time: any TimeSource = SystemTime(), folder: StateFolder
    ) throws(OperatorError) {
        let parts = TenantParts(time: time, generator: .generated)
        try self.init(configuration, parts) { prefix throws(OperatorError) in
            try TenantState(in: folder.part(prefix))
        }
    }

    /// `state` gives what was kept in files whose names begin with a text; those of the B2C tenant have none.
    private init<Failure: Error>(
        _ configuration: Configuration, _ parts: TenantParts, state: (String) throws(Failure) -> TenantState
    ) throws(Failure) {
        self.configuration = configuration
        let keptOfB2C = try state("")
        let keys = parts.keys(KeyNaming(era: configuration.behaviour.era), keptOfB2C)
        keys.begin()
        b2c = TenantAuthority(configuration, parts, keptOfB2C, keys: keys)
        let tenants = configuration.otherTenants
        let kept = try tenants.enumerated().map { index, tenant throws(Failure) in
            try state("\(tenant.profile.rawValue)-\(index).")
        }
        let ofEntra = zip(tenants, kept).first { $0.0.profile == .entra }?.1
        let organizations = parts.keys(.microsoft, ofEntra ?? TenantState())
        let personal = parts.keys(.personal, TenantState())
        others = zip(tenants, kept).map { [b2c] tenant, kept in
            // All Entra tenants have the same keys. External ID has its own, and perhaps the accounts of B2C (P-38).
            guard tenant.profile == .externalID else {
                return TenantAuthority(tenant, parts, kept, keys: organizations, personalKeys: personal)
            }
            let sharing = tenant.behaviour.entra.highScaleCompatibility ? b2c.runs : nil
            return TenantAuthority(tenant, parts, kept, keys: parts.keys(.microsoft, kept), sharingAccountsOf: sharing)
        }
    }

    /// Answers a request that came over this scheme, which the URLs of its answers name.
    package func decide(on head: RequestHead, scheme: String = "http") -> Decision {
        .later { await self.route(head, scheme) }
    }
}
