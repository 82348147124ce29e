import Basics
import JSON

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
            claims = await context.authority.keys.claims(of: token)
            if claims == nil { throw .invalidIDTokenHint }
        }
        return all.filter { account in
            (name.map(account.user.isCalled) ?? true)
                && (session.map { $0.isSame(as: account.sessionID) } ?? true)
                && (claims.map { context.configuration.isToken($0, of: account.user) } ?? true)
                && (subject.map { $0 == account.user.objectID } ?? true)
        }
    }

    /// Returns whether the client insists on another person than this one (OpenID Connect Core 3.1.2.2).
    ///
    /// The ID token and the subject are binding, while a name is a hint only.
    func excludes(_ user: User, _ context: RequestContext) async -> Bool {
        if let subject, subject != user.objectID { return true }
        guard let token else { return false }
        let claims = await context.authority.keys.claims(of: token)
        return claims.map { !context.configuration.isToken($0, of: user) } ?? true
    }
}

extension Configuration {
    /// Whether a token of this tenant with these claims is of a person; tokens without `oid` have a `sub` for each application.
    func isToken(_ claims: JSONObject, of user: User) -> Bool {
        let objectID = claims[profile == .strict ? "sub" : "oid"]?.string
        if let objectID { return objectID == user.objectID }
        let audience = claims["aud"]?.string ?? ""
        return claims["sub"]?.string == EntraClaims.subject(of: user.objectID, for: audience, in: tenant)
    }
}
