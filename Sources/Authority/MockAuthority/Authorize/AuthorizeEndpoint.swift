import Basics
import HTTP
import OpenSSL

/// The authorization endpoint (RFC 6749 section 3.1): answers at once for a session, else shows a page.
extension RequestContext {
    func authorize() async -> Decision {
        guard head.method == .post else { return .respond(await authorization()) }
        return head.answerForm { form in await authorization(form.followed(by: head.target.query)) }
    }

    func authorization(_ form: Parameters? = nil, adminConsent: Int? = nil) async -> Response {
        do throws(AuthorizationFailure) {
            let parameters = form ?? Parameters(head.target.query)
            return await answer(try AuthorizationRequest(parameters, self, adminConsent: adminConsent))
        } catch {
            switch error {
            case .page(let refusal): return errorPage(refusal)
            case .client(let refusal, let delivery): return delivery.response(refusal, self)
            }
        }
    }

    private func answer(_ request: AuthorizationRequest) async -> Response {
        do throws(Refusal) {
            let accounts = try await request.options.hint.accounts(of: Session(context: self).accounts, self)
            let mustChoose = accounts.count > 1 && provider.traits.hasManySessions
            let account = mustChoose ? nil : accounts.first.flatMap { needsPage(request, $0) ? nil : $0 }
            if let account, !mustConsent(account.user, request) {
                return await AuthorizationResponse(context: self, request: request).response(
                    account.user, signedIn: account.time, newUser: false)
            }
            if request.options.prompt == "none" {
                if mustChoose { throw Refusal(.accountNotChosen) }
                if account != nil { throw Refusal(.consentRequired, request.client.id, request.client.name) }
                throw Refusal(request.options.hint.session == nil ? .loginRequired : .noSuchSession)
            }
            let choosing = mustChoose || request.options.prompt == "select_account"
            let edits = policy.kind == .editProfile && !choosing && request.options.prompt != "login"
            return page(request, of: account ?? (edits ? accounts.first : nil), choosing: choosing)
        } catch {
            return request.delivery.response(error, self)
        }
    }

    /// Shows the page, on which this person need not sign in again.
    private func page(_ request: AuthorizationRequest, of account: Session.Account?, choosing: Bool) -> Response {
        let csrf = Base64.encode(SecureRandom.bytes(48))
        var transaction = Transaction(request: request, policy: policy, csrf: csrf, begun: now, choosing: choosing)
        transaction.outcome = account.map { .init(user: $0.user.objectID, newUser: false, signedIn: $0.time) }
        let name = GUID.random()
        run.transactions.add(transaction, name)
        return SignInStep(context: self, transaction: transaction, name: name).page()
    }

    /// Whether the user must act although there is a session.
    private func needsPage(_ request: AuthorizationRequest, _ account: Session.Account) -> Bool {
        if ["login", "create", "select_account"].contains(request.options.prompt) { return true }
        if !request.options.allows(signIn: account.time, now: now) { return true }
        return switch policy.kind {
        case .signIn, .signUpOrSignIn, .password: false
        case .signUp, .editProfile, .resetPassword: request.options.prompt != "none"
        case .facebook: account.user.status.identityProvider == nil
        }
    }
}

/// A sign-in under way: an authorization request and what its person did so far.
struct Transaction: Sendable {
    let request: AuthorizationRequest
    let policy: Policy
    /// What a form must carry, so that no other site can send it.
    let csrf: String
    let begun: Int64
    /// Whether the page begins with the accounts that signed in with the browser.
    let choosing: Bool
    /// How long a person may take to sign in, in seconds.
    static let lifetime: Int64 = 3600
    /// Who signed in on the page; nil until then.
    var outcome: Outcome?

    struct Outcome: Sendable {
        /// The object id: the account may change, or be removed, before the answer.
        let user: String
        let newUser: Bool
        /// In seconds since 1970.
        let signedIn: Int64
    }
}
