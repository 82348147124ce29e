import Basics
import HTTP
import OpenSSL

/// The authorization endpoint (RFC 6749 section 3.1): answers at once for a session, else shows a page.
struct AuthorizeEndpoint: Sendable {
    let context: RequestContext

    /// Takes the parameters from the query, or from the form of a `POST`.
    func decide() async -> Decision {
        guard context.head.method == .post else { return .respond(await answer(Parameters(context.head.target.query))) }
        return context.head.answerForm { form in await answer(form.followed(by: context.head.target.query)) }
    }

    private func answer(_ parameters: Parameters) async -> Response {
        do throws(AuthorizationFailure) {
            return await answer(try AuthorizationRequest(parameters, context.configuration))
        } catch {
            switch error {
            case .page(let refusal): return context.errorPage(refusal)
            case .client(let refusal, let delivery):
                return delivery.response(refusal, context)
            }
        }
    }

    private func answer(_ request: AuthorizationRequest) async -> Response {
        do throws(Refusal) {
            let accounts = try await request.options.hint.accounts(of: Session(context: context).accounts, context)
            // B2C has one session. At Entra the person chooses if the client does not.
            let mustChoose = accounts.count > 1 && context.configuration.profile != .b2c
            if let account = accounts.first, !mustChoose, !needsPage(request, account) {
                return await AuthorizationResponse(context: context, request: request).response(
                    account.user, signedIn: account.time, newUser: false)
            }
            if request.options.prompt == "none" {
                if mustChoose { throw .accountNotChosen }
                throw request.options.hint.session == nil ? .loginRequired : .noSuchSession
            }
            return page(request, accounts, choosing: mustChoose || request.options.prompt == "select_account")
        } catch {
            return request.delivery.response(error, context)
        }
    }

    private func page(_ request: AuthorizationRequest, _ accounts: [Session.Account], choosing: Bool) -> Response {
        let csrf = Base64.encode(SecureRandom.bytes(48))
        var transaction = Transaction(
            request: request, policy: context.policy, csrf: csrf, begun: context.now, choosing: choosing)
        if context.policy.kind == .editProfile, !choosing, let account = accounts.first,
            request.options.prompt != "login"
        {
            transaction.outcome = .init(user: account.user.objectID, newUser: false)
        }
        let name = context.run.transactions.begin(transaction)
        return SignInStep(context: context, transaction: transaction, name: name).page()
    }

    /// Whether the user must act although there is a session.
    private func needsPage(_ request: AuthorizationRequest, _ account: Session.Account) -> Bool {
        if ["login", "create", "select_account"].contains(request.options.prompt) { return true }
        if !request.options.allows(signIn: account.time, now: context.now) { return true }
        return switch context.policy.kind {
        case .signIn, .signUpOrSignIn, .password: false
        case .signUp, .editProfile, .resetPassword: request.options.prompt != "none"
        case .facebook: account.user.status.identityProvider == nil
        }
    }
}
