import Basics

/// The kind of token that is accepted (P-28).
package enum TokenKind: String, Sendable, CaseIterable {
    case access, id, any
}

/// The tenants whose tokens are accepted if one issuer is for many tenants (P-22).
package struct AllowedTenants: Sendable, Equatable {
    /// The GUIDs of tenants, in lower case.
    package var listed: [String]
    /// Whether every other tenant is allowed too, except the tenant of personal accounts.
    package var isAny: Bool

    package init(listed: [String], isAny: Bool = false) {
        self.listed = listed
        self.isAny = isAny
    }

    /// Returns whether a tenant, a GUID in lower case, may use the API.
    func allows(_ tenant: String) -> Bool {
        listed.contains { $0.isSame(as: tenant) } || isAny && !tenant.isSame(as: IssuerTenant.personalAccounts)
    }
}
