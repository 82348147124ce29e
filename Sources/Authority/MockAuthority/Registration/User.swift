import Basics
package import JSON

package struct User: Sendable, Equatable {
    /// `oid`, which never changes.
    package var objectID: String
    /// The mail address that it signs in with, as it was typed at sign-up.
    package var email: String
    package var password: String?
    package var name: PersonName
    /// More claims, as `extension_*`, put into every token.
    package var claims = JSONObject()
    /// The facts that decide whether grants of the account are valid.
    package var status = AccountStatus()

    /// Whether a name means this account: its object id, its address, or the part before the `@`, in any case.
    func isCalled(_ name: String) -> Bool {
        email.isEqualIgnoringCase(to: name) || objectID.isEqualIgnoringCase(to: name)
            || email.prefix { $0 != "@" }.isEqualIgnoringCase(to: name)
    }

    /// Two people to try with: `Passw0rd!` lets both in.
    package static let defaults = [
        User(
            objectID: "a11ce000-0000-4000-8000-000000000001", email: "alice@example.com", password: "Passw0rd!",
            name: PersonName(display: "Alice Example", given: "Alice", family: "Example")),
        User(
            objectID: "b0b00000-0000-4000-8000-000000000002", email: "bob@example.com", password: "Passw0rd!",
            name: PersonName(display: "Bob Example", given: "Bob", family: "Example")),
    ]
}

package struct PersonName: Sendable, Equatable {
    package var display: String
    package var given = ""
    package var family = ""
}

/// The facts that decide whether grants of an account are valid.
package struct AccountStatus: Sendable, Equatable {
    /// Counts revocations; grants of another count are void.
    package var generation: Int64 = 0
    /// The count stays below it.
    static let generationLimit: Int64 = 1 << 53
    package var disabled = false
    /// `idp` of the account, for those that came from an identity provider.
    package var identityProvider: String?
}
