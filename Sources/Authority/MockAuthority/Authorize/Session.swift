import HTTP
import JSON

/// The browser's memory of who signed in: the cookie of the service, sealed like a grant.
struct Session: Sendable {
    let context: RequestContext

    private var name: String {
        let tenant = context.configuration.tenant
        return context.configuration.profile == .b2c
            ? "x-ms-cpim-sso:\(tenant.name)_0" : "ESTSAUTHPERSISTENT:\(tenant.id)"
    }
    /// The lifetime of the service, in seconds.
    private static let lifetime: Int64 = 86400

    /// The number of accounts that a cookie has room for.
    private static let limit = 4

    struct Account: Sendable {
        let user: User
        /// When it did, in seconds since 1970.
        let time: Int64
        /// The part of the cookie that remembers it.
        fileprivate let sealed: Substring

        /// `sid` of the tokens of that sign-in.
        var sessionID: String { EntraClaims.sessionID(of: user, at: time) }
    }

    /// The accounts that signed in with this browser, the last one first, without those that were removed or whose grants were
    /// revoked.
    var accounts: [Account] {
        let cookies = context.head.headers.values("Cookie").flatMap { $0.split(separator: ";") }
        let value = cookies.lazy.compactMap { cookie -> String? in
            let pair = cookie.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, String(pair[0]).spaceSeparated == [name] else { return nil }
            return String(pair[1])
        }.first
        return (value ?? "").split(separator: "~").prefix(Self.limit).compactMap(account)
    }

    private func account(_ sealed: Substring) -> Account? {
        guard let members = context.authority.seal.open(String(sealed)), let grant = Grant(members),
            grant.kind == .session, grant.validity.expires > context.now,
            let user = context.run.directory.user(grant.user), user.status.generation == grant.generation,
            !user.status.disabled
        else { return nil }
        return Account(user: user, time: grant.signIn.time, sealed: sealed)
    }

    /// The cookie that remembers a sign-in at this time beside those of other accounts.
    func cookie(for user: User, signedIn time: Int64) -> String {
        let now = context.now
        let grant = Grant(
            kind: .session, binding: .init(client: "", policy: context.policy.name, scope: ""), user: user.objectID,
            generation: user.status.generation, signIn: .init(time: time),
            validity: .init(issued: now, expires: now + Self.lifetime))
        let others = accounts.filter { $0.user.objectID != user.objectID }.map { String($0.sealed) }
        let values = [context.authority.seal.seal(grant.members)] + others.prefix(Self.limit - 1)
        return "\(name)=\(values.joined(separator: "~")); \(attributes)"
    }

    var expiredCookie: String { "\(name)=; Max-Age=0; \(attributes)" }

    /// `Secure` only over https: browsers drop such cookies over plain http.
    var attributes: String {
        context.base.hasPrefix("https:") ? "Path=/; HttpOnly; Secure; SameSite=None" : "Path=/; HttpOnly; SameSite=Lax"
    }
}
