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

    /// The account that signed in with this browser, and the time; `nil` once it was removed or its grants were revoked.
    var current: (user: User, time: Int64)? {
        let cookies = context.head.headers.values("Cookie").flatMap { $0.split(separator: ";") }
        let value = cookies.lazy.compactMap { cookie -> String? in
            let pair = cookie.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, String(pair[0]).spaceSeparated == [name] else { return nil }
            return String(pair[1])
        }.first
        guard let value, let members = context.authority.seal.open(value), let grant = Grant(members),
            grant.kind == .session, grant.validity.expires > context.now,
            let user = context.run.directory.user(grant.user), user.status.generation == grant.generation,
            !user.status.disabled
        else { return nil }
        return (user, grant.signIn.time)
    }

    /// The cookie that remembers a sign-in.
    func cookie(for user: User) -> String {
        let now = context.now
        let grant = Grant(
            kind: .session, binding: .init(client: "", policy: context.policy.name, scope: ""), user: user.objectID,
            generation: user.status.generation, signIn: .init(time: now),
            validity: .init(issued: now, expires: now + Self.lifetime))
        return "\(name)=\(context.authority.seal.seal(grant.members)); \(attributes)"
    }

    /// The cookie that forgets it.
    var expiredCookie: String { "\(name)=; Max-Age=0; \(attributes)" }

    /// `Secure` only over https: browsers drop such cookies over plain http.
    var attributes: String {
        context.base.hasPrefix("https:") ? "Path=/; HttpOnly; Secure; SameSite=None" : "Path=/; HttpOnly; SameSite=Lax"
    }
}
