import Basics
import Synchronization

/// A sign-in under way: an authorization request and what its person did so far.
struct Transaction: Sendable {
    let request: AuthorizationRequest
    let policy: Policy
    /// What a form must carry, so that no other site can send it.
    let csrf: String
    /// When it began, in seconds since 1970.
    let begun: Int64
    /// Whether the page begins with the accounts that signed in with the browser.
    let choosing: Bool
    /// Who signed in on the page; nil until then.
    var outcome: Outcome?

    struct Outcome: Sendable {
        /// The object id: the account may change, or be removed, before the answer.
        let user: String
        let newUser: Bool
    }

    /// Who signed in on the page, as the account is now; `nil` once it may not sign in any more.
    func user(in directory: Directory) -> User? {
        outcome.flatMap { directory.user($0.user) }.flatMap { $0.status.disabled ? nil : $0 }
    }
}

/// The sign-ins under way, found by the random name in their URL: two tabs do not disturb each other.
final class Transactions: Sendable {
    private static let limit = 2000
    private static let lifetime: Int64 = 3600
    private let open = Mutex<[String: Transaction]>([:])

    func begin(_ transaction: Transaction) -> String {
        let name = GUID.random()
        open.withLock { open in
            if open.count >= Self.limit {
                open = open.filter { $0.value.begun > transaction.begun - Self.lifetime }
                if open.count >= Self.limit { open.removeAll() }
            }
            open[name] = transaction
        }
        return name
    }

    func transaction(_ name: String, now: Int64) -> Transaction? {
        open.withLock { $0[name] }.flatMap { $0.begun > now - Self.lifetime ? $0 : nil }
    }

    func finish(_ name: String, _ outcome: Transaction.Outcome) {
        open.withLock { $0[name]?.outcome = outcome }
    }

    func end(_ name: String) { open.withLock { $0[name] = nil } }
}
