import Basics
import HTTP
import OpenSSL

/// The authorization endpoint (RFC 6749 section 3.1): answers at once for a session, else shows a page.
extension RequestContext {
    func authorize() async -> Decision {
        guard head.method == .post else { return .respond(await answer(Parameters(head.target.query))) }
        return head.answerForm { form in await answer(form.followed(by: head.target.query)) }
    }

    private func answer(_ parameters: Parameters) async -> Response {
        do throws(AuthorizationFailure) {
            return await answer(try AuthorizationRequest(parameters, self))
        } catch {
            switch error {
            case .page(let refusal): return errorPage(refusal)
            case .client(let refusal, let delivery):
                return delivery.response(refusal, self)
            }
        }
    }

    private func answer(_ request: AuthorizationRequest) async -> Response {
        do throws(Refusal) {
            let accounts = try await request.options.hint.accounts(of: Session(context: self).accounts, self)
            let mustChoose = accounts.count > 1 && provider.traits.hasManySessions
            if let account = accounts.first, !mustChoose, !needsPage(request, account) {
                return await AuthorizationResponse(context: self, request: request).response(
                    account.user, signedIn: account.time, newUser: false)
            }
            if request.options.prompt == "none" {
                if mustChoose { throw .accountNotChosen }
                throw request.options.hint.session == nil ? .loginRequired : .noSuchSession
            }
            return page(request, accounts, choosing: mustChoose || request.options.prompt == "select_account")
        } catch {
            return request.delivery.response(error, self)
        }
    }

    private func page(_ request: AuthorizationRequest, _ accounts: [Session.Account], choosing: Bool) -> Response {
        let csrf = Base64.encode(SecureRandom.bytes(48))
        var transaction = Transaction(
            request: request, policy: policy, csrf: csrf, begun: now, choosing: choosing)
        if policy.kind == .editProfile, !choosing, let account = accounts.first,
            request.options.prompt != "login"
        {
            transaction.outcome = .init(user: account.user.objectID, newUser: false)
        }
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
    }

    /// Who signed in on the page, as the account is now; `nil` once it may not sign in any more.
    func user(in directory: Directory) -> User? {
        outcome.flatMap { directory.user($0.user) }.flatMap { $0.status.disabled ? nil : $0 }
    }
}
