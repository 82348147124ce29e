import HTTP
import JSON

/// The endpoints of the pages: the plain form, and the protocol of the real page's script.
struct PageEndpoint: Sendable {
    let context: RequestContext

    private var step: SignInStep? {
        guard let name = context.head.target["tx"].flatMap(StateProperties.name),
            let transaction = context.run.transactions.transaction(name, now: context.now),
            transaction.policy == context.policy
        else { return nil }
        return SignInStep(context: context, transaction: transaction, name: name)
    }

    /// `GET` and `POST /T/P/signin?tx=`: the form without script.
    func page() -> Decision {
        guard context.head.method == .post else {
            return .respond(step?.page(asked: context.head.target["form"]) ?? StateProperties.expiredPage(context))
        }
        return context.head.answerForm { fields in
            guard let step else { return StateProperties.expiredPage(context) }
            return await step.act(fields)
        }
    }

    /// `POST /T/P/SelfAsserted?tx=&p=`: always 200, the outcome in the body.
    func selfAsserted() -> Decision { context.head.answerForm(answer) }

    private func answer(_ fields: Parameters) -> Response {
        guard let step, context.head.headers["X-CSRF-TOKEN"] == step.transaction.csrf else {
            return failure("AADB2C90046", "We are having trouble loading your current state.")
        }
        switch FormReader(run: context.run, fields: fields).read(form(fields), user: step.user) {
        case .failure(let code, let message): return failure(code, message)
        case .person(let user, let isNew):
            context.run.transactions.finish(step.name, .init(user: user.objectID, newUser: isNew))
            return Response.json(["status": "200"])
        }
    }

    /// The form by its fields, since the script does not name it.
    private func form(_ fields: Parameters) -> PageForm {
        switch context.policy.kind {
        case .facebook: .facebook
        case .signUp: .signUp
        case .resetPassword: .resetPassword
        case .editProfile: fields["password"] == nil ? .profile : .signIn
        case .signIn, .signUpOrSignIn, .password: fields["newPassword"] == nil ? .signIn : .signUp
        }
    }

    private func failure(_ code: String, _ message: String) -> Response {
        Response.json(["status": "400", "errorCode": .string(code), "message": .string(message)])
    }

    /// `GET /T/P/api/{api}/confirmed?csrf_token=&tx=&p=`: the answer for the client.
    func confirmed() async -> Response {
        guard let step, context.head.target["csrf_token"] == step.transaction.csrf,
            let user = step.user
        else { return StateProperties.expiredPage(context) }
        return await step.finish(user, isNew: step.transaction.outcome?.newUser ?? false)
    }
}
