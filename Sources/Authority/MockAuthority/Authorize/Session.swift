import Basics
import HTTP
import JSON

/// The browser's memory of who signed in: the cookie of the service, sealed like a grant.
struct Session: Sendable {
    let context: RequestContext

    private var name: String { context.provider.sessionCookie }
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

    /// The accounts that signed in with this browser, the last one first, unless removed or their grants revoked.
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
        guard let grant = context.authority.seal.open(String(sealed)), grant.kind == .session,
            grant.expires > context.now,
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
            issued: now, expires: now + Self.lifetime)
        let others = accounts.filter { $0.user.objectID != user.objectID }.map { String($0.sealed) }
        let values = [context.authority.seal.seal(grant)] + others.prefix(Self.limit - 1)
        return "\(name)=\(values.joined(separator: "~")); \(attributes)"
    }

    var expiredCookie: String { "\(name)=; Max-Age=0; \(attributes)" }

    /// `Secure` only over https: browsers drop such cookies over plain http.
    var attributes: String {
        context.base.hasPrefix("https:") ? "Path=/; HttpOnly; Secure; SameSite=None" : "Path=/; HttpOnly; SameSite=Lax"
    }
}

/// The account that a client expects to sign in; without any hint, every account.
struct AccountHint: Sendable, Equatable {
    /// `login_hint`: the address, or the object id.
    var name: String?
    /// `sid`: the claim of the tokens of a sign-in, which B2C's tokens lack.
    var session: String?
    /// `id_token_hint`: an ID token of the account, which may have expired.
    var token: String?
    /// The `sub` that the parameter `claims` asks for, which a strict provider insists on.
    var subject: String?

    /// Returns the accounts that the hint means.
    ///
    /// - Throws: the refusal of an ID token that the authority did not issue.
    func accounts(of all: [Session.Account], _ context: RequestContext) async throws(Refusal) -> [Session.Account] {
        var claims: JSONObject?
        if let token {
            claims = await context.keys.claims(of: token)
            if claims == nil { throw Refusal(.invalidIDTokenHint) }
        }
        return all.filter { account in
            (name.map(account.user.isCalled) ?? true)
                && (session.map { $0.isSame(as: account.sessionID) } ?? true)
                && (claims.map { context.provider.isToken($0, of: account.user) } ?? true)
                && (subject.map { $0 == account.user.objectID } ?? true)
        }
    }

    /// Returns whether the client insists on another person than this one (OpenID Connect Core 3.1.2.2).
    ///
    /// The ID token and the subject are binding, while a name is a hint only.
    func excludes(_ user: User, _ context: RequestContext) async -> Bool {
        if let subject, subject != user.objectID { return true }
        guard let token else { return false }
        let claims = await context.keys.claims(of: token)
        return claims.map { !context.provider.isToken($0, of: user) } ?? true
    }
}

extension Provider {
    /// Whether these claims are of a token of this person; a token without `oid` has a `sub` for each application.
    func isToken(_ claims: JSONObject, of user: User) -> Bool {
        let objectID = claims[traits.personClaim]?.string
        if let objectID { return objectID == user.objectID }
        let audience = claims["aud"]?.string ?? ""
        return claims["sub"]?.string == EntraClaims.subject(of: user.objectID, for: audience, in: tenant)
    }
}
