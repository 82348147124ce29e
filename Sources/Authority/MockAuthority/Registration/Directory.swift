import Basics
package import JSON
import OpenSSL
import Synchronization

package struct User: Sendable, Equatable {
    /// `oid`, which never changes.
    package var objectID: String
    /// The mail address that it signs in with, as it was typed at sign-up.
    package var email: String
    package var password: String?
    package var name: PersonName
    /// The ids of the groups, in tokens of Entra.
    package var groups: [String] = []
    /// More claims, as `extension_*`, put into every token.
    package var claims = JSONObject()
    package var status = AccountStatus()

    /// Whether a name means this account: its object id, its address, or the part before the `@`, in any case.
    func isCalled(_ name: String) -> Bool {
        email.isEqualIgnoringCase(to: name) || objectID.isEqualIgnoringCase(to: name)
            || email.prefix { $0 != "@" }.isEqualIgnoringCase(to: name)
    }

    package static let defaults: [User] = Configuration.b2c.users
}

extension User {
    /// Stands for an application that gets a token of its own.
    init(application objectID: String) {
        self.init(objectID: objectID, email: "", password: nil, name: PersonName(display: ""))
    }
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
    static let generationLimit: Int64 = 1 << 53
    package var disabled = false
    /// `idp` of the account, for those that came from an identity provider.
    package var identityProvider: String?
}

final class Directory: Sendable {
    private let users: Mutex<[User]>
    private let changed: @Sendable ([User]) -> Void

    /// A directory with these accounts; `changed` is called after each change, before the next one.
    init(_ users: [User], changed: @escaping @Sendable ([User]) -> Void = { _ in }) {
        self.users = Mutex(users)
        self.changed = changed
    }

    var all: [User] { users.withLock { $0 } }

    /// The account of this name: its object id, its address, or the part before the `@`, in any case.
    func user(called name: String) -> User? {
        let all = all
        return all.first { $0.email.isEqualIgnoringCase(to: name) } ?? all.first { $0.isCalled(name) }
    }

    func user(_ objectID: String) -> User? { all.first { $0.objectID == objectID } }

    /// The account that this address and password open, if it is not disabled or such accounts are wanted, too.
    func user(email: String, password: String, ofDisabled: Bool = false) -> User? {
        let local = all.first { $0.email.isEqualIgnoringCase(to: email) && $0.status.identityProvider == nil }
        guard let user = local, ofDisabled || !user.status.disabled, let known = user.password else { return nil }
        guard ConstantTime.equal(Array(known.utf8), Array(password.utf8)) else { return nil }
        return user
    }

    /// Replaces the account with the same object id, or appends the account.
    ///
    /// - Returns: whether it did; an address that another account has is refused.
    @discardableResult
    func put(_ user: User) -> Bool {
        change { users in
            let provider = user.status.identityProvider
            let others = users.filter { $0.objectID != user.objectID && $0.status.identityProvider == provider }
            guard !others.contains(where: { $0.email.isEqualIgnoringCase(to: user.email) }) else { return false }
            if let index = users.firstIndex(where: { $0.objectID == user.objectID }) {
                users[index] = user
            } else {
                users.append(user)
            }
            return true
        }
    }

    func reset(_ users: [User]) { change { $0 = users } }

    func remove(_ objectID: String) { change { users in users.removeAll { $0.objectID == objectID } } }

    func revoke(_ objectID: String) {
        change { users in
            guard let index = users.firstIndex(where: { $0.objectID == objectID }) else { return }
            // Grants name the count, so any other one makes them void; files have none above the limit.
            users[index].status.generation = (users[index].status.generation + 1) % AccountStatus.generationLimit
        }
    }

    /// Changes the accounts and tells them under the lock, so that no older list overwrites a newer one on the disk.
    private func change<Result>(_ body: (inout [User]) -> Result) -> Result {
        users.withLock { users in
            defer { changed(users) }
            return body(&users)
        }
    }
}
