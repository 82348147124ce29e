import Basics
internal import HTTP
internal import OpenSSL

/// The authorization endpoint (RFC 6749 section 3.1): answers at once for a session, else shows a page.
struct AuthorizeEndpoint: Sendable {
    let call: Call

    /// Takes the parameters from the query, or from the form of a `POST`.
    func decide() async -> Decision {
        switch call.head.method {
        case .get, .head: .respond(await answer(Parameters(call.head.target.query)))
        case .post:
            .answerBody(limit: 65536) { body in
                let form = Parameters(body: body, type: call.head.contentType)
                return await answer(form.followed(by: call.head.target.query))
            }
        case .put, .patch, .delete, .options, .other: .respond(Reply.methodNotAllowed("GET, POST"))
        }
    }

    private func answer(_ parameters: Parameters) async -> Response {
        do throws(AuthorizationFailure) {
            return await answer(try AuthorizationRequest(parameters, call.configuration))
        } catch {
            switch error {
            case .page(let refusal): return ErrorPage(refusal, call).response
            case .client(let refusal, let delivery):
                return delivery.response(refusal, correlation: call.correlation, now: call.now)
            }
        }
    }

    private func answer(_ request: AuthorizationRequest) async -> Response {
        let session = Session(call: call).current
        if let session, !needsPage(request, session.user) {
            return await AuthorizationAnswer(call: call, request: request).response(
                session.user, signedIn: session.time, newUser: false)
        }
        if request.options.prompt == "none" {
            return request.delivery.response(
                .loginRequired(prompt: "none"), correlation: call.correlation, now: call.now)
        }
        let csrf = Base64.encode(SecureRandom.bytes(48))
        var transaction = Transaction(request: request, policy: call.policy, csrf: csrf, begun: call.now)
        if call.policy.kind == .editProfile, let session, request.options.prompt != "login" {
            transaction.outcome = .init(user: session.user, newUser: false)
        }
        let name = call.run.transactions.begin(transaction)
        return SignInStep(call: call, transaction: transaction, name: name).page()
    }

    /// Whether a person has something to do in spite of the session.
    private func needsPage(_ request: AuthorizationRequest, _ user: User) -> Bool {
        if request.options.prompt == "login" { return true }
        return switch call.policy.kind {
        case .signIn, .signUpOrSignIn, .password: false
        case .signUp, .editProfile: request.options.prompt != "none"
        case .facebook: user.standing.identityProvider == nil
        }
    }
}
