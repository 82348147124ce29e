internal import HTTP
internal import JSON

/// The endpoints of the pages: the plain form, and the protocol of the real page's script.
struct PageEndpoint: Sendable {
    let call: Call

    private static let bodyLimit = 65536

    private var step: SignInStep? {
        guard let name = call.head.target["tx"].flatMap(StateProperties.name),
            let transaction = call.run.transactions.transaction(name, now: call.now),
            transaction.policy == call.policy
        else { return nil }
        return SignInStep(call: call, transaction: transaction, name: name)
    }

    /// `GET` and `POST /T/P/signin?tx=`: the form without script.
    func plain() -> Decision {
        switch call.head.method {
        case .get, .head: .respond(step?.page(asked: call.head.target["form"]) ?? StateProperties.lost)
        case .post:
            .answerBody(limit: Self.bodyLimit) { body in
                guard let step else { return StateProperties.lost }
                return await step.act(Parameters(body: body, type: call.head.contentType))
            }
        case .put, .patch, .delete, .options, .other: .respond(Reply.methodNotAllowed("GET, POST"))
        }
    }

    /// `POST /T/P/SelfAsserted?tx=&p=`: always 200, the outcome in the body.
    func selfAsserted() -> Decision {
        guard call.head.method == .post else { return .respond(Reply.methodNotAllowed("POST")) }
        return .answerBody(limit: Self.bodyLimit) { body in
            assert(Parameters(body: body, type: call.head.contentType))
        }
    }

    private func assert(_ fields: Parameters) -> Response {
        guard let step, call.head.headers["X-CSRF-TOKEN"] == step.transaction.csrf else {
            return mistake("AADB2C90046", "We are having trouble loading your current state.")
        }
        switch FormReader(run: call.run, fields: fields).read(form(fields), user: step.transaction.outcome?.user) {
        case .mistake(let code, let words): return mistake(code, words)
        case .person(let user, let isNew):
            call.run.transactions.finish(step.name, .init(user: user, newUser: isNew))
            return Reply.json(["status": "200"])
        }
    }

    /// The form by its fields, since the script does not name it.
    private func form(_ fields: Parameters) -> PageForm {
        switch call.policy.kind {
        case .facebook: .facebook
        case .signUp: .signUp
        case .editProfile: fields["password"] == nil ? .profile : .signIn
        case .signIn, .signUpOrSignIn, .password: fields["newPassword"] == nil ? .signIn : .signUp
        }
    }

    private func mistake(_ code: String, _ words: String) -> Response {
        Reply.json(["status": "400", "errorCode": .string(code), "message": .string(words)])
    }

    /// `GET /T/P/api/{api}/confirmed?csrf_token=&tx=&p=`: the answer for the client.
    func confirmed() async -> Response {
        guard let step, call.head.target["csrf_token"] == step.transaction.csrf,
            let outcome = step.transaction.outcome
        else { return StateProperties.lost }
        return await step.finish(outcome)
    }
}
