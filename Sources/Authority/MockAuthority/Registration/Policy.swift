/// A user flow: what a person does there, and what its tokens say.
package struct Policy: Sendable, Equatable {
    /// What happens on the pages of a policy.
    package enum Kind: String, Sendable, CaseIterable {
        case signUp = "sign-up"
        case signIn = "sign-in"
        case signUpOrSignIn = "sign-up-or-sign-in"
        case editProfile = "edit-profile"
        case resetPassword = "reset-password"
        case facebook
        case password
    }

    /// The two shapes of `iss`.
    package enum Issuer: String, Sendable, CaseIterable {
        /// `<base>/<tenant id>/v2.0/`, the default of the service.
        case tenant
        /// `<base>/tfp/<tenant id>/<policy>/v2.0/`, which clients need that compare issuer and URL.
        case tfp
    }

    /// The name as defined, and as `tfp` carries it; URLs have it in lower case.
    package var name: String
    package var kind: Kind
    package var issuer: Issuer

    package init(_ name: String, kind: Kind, issuer: Issuer = .tenant) {
        self.name = name
        self.kind = kind
        self.issuer = issuer
    }

    /// Whether the password grant is allowed, as only in flows made for it.
    var allowsPasswordGrant: Bool { kind == .password }

    /// The policies of the sample clients (docs/clients.md, "Credentials"), and those to reset a password
    /// and for the password grant.
    package static let defaults = [
        Policy("b2c_1_sign_up", kind: .signUp),
        Policy("b2c_1_sign_in", kind: .signIn),
        Policy("b2c_1_facebook", kind: .facebook),
        Policy("b2c_1_edit_profile", kind: .editProfile),
        Policy("b2c_1_reset", kind: .resetPassword),
        Policy("b2c_1_ropc", kind: .password),
    ]
}
