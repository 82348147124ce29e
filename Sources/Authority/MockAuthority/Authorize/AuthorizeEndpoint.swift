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
        let session = Session(context: context).current
        if let session, !needsPage(request, session.user) {
            return await AuthorizationResponse(context: context, request: request).response(
                session.user, signedIn: session.time, newUser: false)
        }
        if request.options.prompt == "none" {
            return request.delivery.response(.loginRequired(prompt: "none"), context)
        }
        let csrf = Base64.encode(SecureRandom.bytes(48))
        var transaction = Transaction(request: request, policy: context.policy, csrf: csrf, begun: context.now)
        if context.policy.kind == .editProfile, let session, request.options.prompt != "login" {
            transaction.outcome = .init(user: session.user.objectID, newUser: false)
        }
        let name = context.run.transactions.begin(transaction)
        return SignInStep(context: context, transaction: transaction, name: name).page()
    }

    /// Whether the user must act although there is a session.
    private func needsPage(_ request: AuthorizationRequest, _ user: User) -> Bool {
        if ["login", "create"].contains(request.options.prompt) { return true }
        return switch context.policy.kind {
        case .signIn, .signUpOrSignIn, .password: false
        case .signUp, .editProfile, .resetPassword: request.options.prompt != "none"
        case .facebook: user.status.identityProvider == nil
        }
    }
}
