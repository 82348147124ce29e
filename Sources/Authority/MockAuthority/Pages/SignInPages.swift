import Basics
import HTTP
import JSON
import Tokens

/// The endpoints of the pages: the plain form, and the protocol of the real page's script.
extension RequestContext {
    private var step: SignInStep? {
        guard let name = head.target["tx"].flatMap(StateProperties.name),
            let transaction = run.transactions.entry(name), transaction.begun > now - Transaction.lifetime,
            transaction.policy == policy
        else { return nil }
        return SignInStep(context: self, transaction: transaction, name: name)
    }

    /// `GET` and `POST /T/P/signin?tx=`: the form without script.
    func page() -> Decision {
        guard head.method == .post else {
            return .respond(step?.page(asked: head.target["form"]) ?? StateProperties.expiredPage(self))
        }
        return head.answerForm { fields in
            guard let step else { return StateProperties.expiredPage(self) }
            return await step.act(fields)
        }
    }

    /// `POST /T/P/SelfAsserted?tx=&p=`: always 200, the outcome in the body.
    func selfAsserted() -> Decision { head.answerForm(answer) }

    private func answer(_ fields: Parameters) -> Response {
        guard let step, head.headers["X-CSRF-TOKEN"] == step.transaction.csrf else {
            return failure("AADB2C90046", "We are having trouble loading your current state.")
        }
        switch FormReader(run: run, fields: fields).read(form(fields), user: step.user) {
        case .failure(let code, let message): return failure(code, message)
        case .person(let user, let isNew):
            run.transactions.change(where: { name, _ in name == step.name }) {
                $0.outcome = .init(user: user.objectID, newUser: isNew, signedIn: now)
            }
            return Response.json(["status": "200"])
        }
    }

    /// The form by its fields, since the script does not name it.
    private func form(_ fields: Parameters) -> PageForm {
        switch policy.kind {
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
        guard let step, head.target["csrf_token"] == step.transaction.csrf,
            let user = step.user
        else { return StateProperties.expiredPage(self) }
        return await step.finish(user, isNew: step.transaction.outcome?.newUser ?? false)
    }
}

/// One step of a sign-in: shows its page, or acts on what was sent.
struct SignInStep: Sendable {
    let context: RequestContext
    let transaction: Transaction
    let name: String

    private var start: String { context.url.pages(of: context.policy) }
    private var isB2C: Bool { context.provider.traits.hasPageOfB2C }
    /// Who signed in before, as the account is now; `nil` once it may not sign in any more.
    var user: User? {
        transaction.outcome.flatMap { context.run.directory.user($0.user) }.flatMap { $0.status.disabled ? nil : $0 }
    }

    private var action: String {
        "\(start)/\(Routes.page.path)?tx=\(PercentEncoding.encode(StateProperties.text(name), .lower))"
    }

    private func form(_ asked: String?) -> PageForm {
        switch context.policy.kind {
        case .signIn, .password: .signIn
        case .signUp: .signUp
        case .signUpOrSignIn:
            (asked ?? transaction.request.options.form) == PageForm.signUp.rawValue ? .signUp : .signIn
        case .facebook: .facebook
        case .resetPassword: .resetPassword
        case .editProfile: user == nil ? .signIn : .profile
        }
    }

    func page(
        asked: String? = nil, alert: String? = nil, fields: Parameters? = nil, cookie: String? = nil
    ) -> Response {
        let accounts = asked == nil && transaction.choosing && user == nil ? Session(context: context).accounts : []
        let other: HTML = #"<button name="action" value="other">Use another account</button>"#
        guard accounts.isEmpty else {
            return page("accounts", "Pick an account", accounts.map { $0.user.button(named: "account") } + [other])
        }
        if let user, context.mustConsent(user, transaction.request) { return consentPage(user, cookie) }
        let form = form(asked)
        let offersSignUp = context.policy.kind == .signUpOrSignIn && form == .signIn
        let html = FormHTML(
            form: form, action: action, csrf: transaction.csrf, alert: alert,
            given: { known($0, fields) }, offersReset: isB2C,
            signUpLink: offersSignUp ? "\(action)&form=\(PageForm.signUp.rawValue)" : nil,
            people: form == .signIn ? people : [])
        // Clients without a browser know the page of B2C only, and expect the settings at the end of its script.
        var headers = isB2C ? cookiesOfB2C : FieldLines()
        if let cookie { headers.append("Set-Cookie", cookie) }
        return Page(
            title: form.title, content: html.html, script: isB2C ? settings(form, offersSignUp: offersSignUp) : "",
            headers: headers, overline: context.configuration.tenant.name
        ).response
    }

    /// A page whose form has only buttons.
    private func page(_ id: String, _ title: String, _ content: [HTML], _ cookie: String? = nil) -> Response {
        let form: HTML = """
            <form id="\(id)" method="post" action="\(action)">
            <input type="hidden" name="csrf" value="\(transaction.csrf)">
            <input type="hidden" name="form" value="\(PageForm.signIn.rawValue)">
            \(content)
            <button name="action" value="cancel">Cancel</button>
            </form>
            """
        return Page(
            title: title, content: form, headers: cookie.map { ["Set-Cookie": $0] } ?? [:],
            overline: context.configuration.tenant.name
        ).response
    }

    /// The page that shows the scopes, which only an administrator may accept where the client is so configured.
    private func consentPage(_ user: User, _ cookie: String?) -> Response {
        let request = transaction.request
        let accept: HTML = #"<button class="primary" name="action" value="accept">Accept</button>"#
        let scopes = request.scope.answered.map { "<li>\($0)</li>" as HTML }
        let list: HTML = "<p>\(request.client.title) asks \(user.email) for:</p>\n<ul>\n\(scopes)\n</ul>"
        let may = context.mayConsent(user, request)
        let title = may ? "Permissions requested" : "Need admin approval"
        return page("consent", title, may ? [list, accept] : [list], cookie)
    }

    private func consent() async -> Response {
        let request = transaction.request
        guard let user, let outcome = transaction.outcome, context.mayConsent(user, request) else { return page() }
        context.addConsent(of: request.delivery.adminConsent == nil ? user : nil, to: request.client, request.scope)
        return await finish(user, isNew: outcome.newUser, signedIn: outcome.signedIn)
    }

    /// The accounts of the configuration, as they are now; those of people who signed up are not offered.
    private var people: [User] {
        context.configuration.users.prefix(8).compactMap { context.run.directory.user($0.objectID) }
            .filter { !$0.status.disabled && $0.status.identityProvider == nil }
    }

    /// The value of a field: what was typed, the hint of the client, or a fact of the account.
    private func known(_ field: String, _ fields: Parameters?) -> String? {
        if let typed = fields?[field] { return typed }
        switch field {
        case "signInName", "email": return transaction.request.options.hint.name
        case "displayName": return user?.name.display
        case "givenName": return user?.name.given
        case "surname": return user?.name.family
        default: return nil
        }
    }

    func act(_ fields: Parameters) async -> Response {
        guard fields["csrf"] == transaction.csrf else { return StateProperties.expiredPage(context) }
        switch fields["action"] {
        case "cancel": return refuse(Refusal(.cancelled))
        case "forgot": return refuse(Refusal(.forgotPassword))
        case "accept": return await consent()
        case "other": return page(asked: PageForm.signIn.rawValue)
        default: break
        }
        if let objectID = fields["account"] { return await choose(objectID) }
        let form = form(fields["form"])
        if form == .signIn, let user = people.first(where: { $0.objectID == fields["person"] }) {
            return await advance(form, user, false)
        }
        switch FormReader(run: context.run, fields: fields).read(form, user: user) {
        case .failure(_, let message): return page(asked: form.rawValue, alert: message, fields: fields)
        case .person(let user, let isNew): return await advance(form, user, isNew)
        }
    }

    /// Takes an account that signed in with the browser before; if that is too long ago, the person signs in again.
    private func choose(_ objectID: String) async -> Response {
        let account = Session(context: context).accounts.first { $0.user.objectID == objectID }
        guard let account, transaction.request.options.allows(signIn: account.time, now: context.now) else {
            return page(asked: PageForm.signIn.rawValue)
        }
        return await advance(.signIn, account.user, false, signedIn: account.time)
    }

    /// Shows the profile after a sign-in under an edit policy, and gives the answer after everything else.
    private func advance(_ form: PageForm, _ user: User, _ isNew: Bool, signedIn: Int64? = nil) async -> Response {
        let signedIn = signedIn ?? context.now
        var next = transaction
        next.outcome = .init(user: user.objectID, newUser: isNew, signedIn: signedIn)
        context.run.transactions.change(where: { other, _ in other == name }) { $0.outcome = next.outcome }
        let edits = context.policy.kind == .editProfile && form == .signIn
        guard edits || context.mustConsent(user, transaction.request) else {
            return await finish(user, isNew: isNew, signedIn: signedIn)
        }
        return SignInStep(context: context, transaction: next, name: name).page(
            cookie: Session(context: context).cookie(for: user, signedIn: signedIn))
    }

    /// Returns the answer for the client, and remembers the session, which began now if no time is given.
    func finish(_ user: User, isNew: Bool, signedIn: Int64? = nil) async -> Response {
        if context.provider.traits.insistsOnHint, await transaction.request.options.hint.excludes(user, context) {
            return refuse(Refusal(.loginRequired))
        }
        context.run.transactions.remove(name)
        let time = signedIn ?? context.now
        let answer = AuthorizationResponse(context: context, request: transaction.request)
        return await answer.response(
            user, signedIn: time, newUser: isNew,
            headers: ["Set-Cookie": Session(context: context).cookie(for: user, signedIn: time)])
    }

    private func refuse(_ refusal: Refusal) -> Response {
        context.run.transactions.remove(name)
        return transaction.request.delivery.response(refusal, context)
    }
}

// Clients without a browser read the settings and cookies of the real page by these names.
extension SignInStep {
    /// `var SETTINGS = {...};`, with `<` escaped so that no value can end the script.
    private func settings(_ form: PageForm, offersSignUp: Bool) -> String {
        // The policy as it is defined, as in `B2C_1_susi`.
        let policy = context.policy.name
        let settings: JSONValue = [
            "remoteResource": "", "retryLimit": 3, "trimSpacesInPassword": true,
            "api": form == .signIn ? "CombinedSigninAndSignup" : "SelfAsserted", "csrf": .string(transaction.csrf),
            "transId": .string(StateProperties.text(name)), "pageViewId": .string(GUID.random()), "pageMode": 0,
            "config": ["showSignupLink": offersSignUp ? "True" : "False", "operatingMode": "Email"],
            "hosts": [
                "tenant": .string("/\(context.url.tenant)/\(policy)"), "policy": .string(policy),
                "static": .string(context.base + "/static/"),
            ],
            "locale": ["lang": "en"],
        ]
        let text = String(decoding: settings.serialized(), as: UTF8.self)
        let safe = text.split(separator: "<", omittingEmptySubsequences: false).joined(separator: "\\u003c")
        return "var SETTINGS = \(safe);"
    }

    /// One client rebuilds the transaction's name from the second cookie.
    private var cookiesOfB2C: FieldLines {
        let entry: JSONValue = [
            "I": .string(name), "T": .string(context.configuration.tenant.name), "P": .string(context.policy.name),
            "S": 1, "M": [:], "D": 0,
        ]
        let trans: JSONValue = ["T_DIC": .array([entry]), "C_ID": .string(name)]
        let attributes = Session(context: context).attributes
        var headers = FieldLines()
        headers.append("Set-Cookie", "x-ms-cpim-csrf=\(transaction.csrf); \(attributes)")
        headers.append("Set-Cookie", "x-ms-cpim-trans=\(Base64.encode(trans.serialized())); \(attributes)")
        return headers
    }
}

/// The name of a transaction as URLs and scripts of the real page carry it.
enum StateProperties {
    private static let prefix = "StateProperties="

    /// `StateProperties=` and the name in JSON in Base64.
    static func text(_ name: String) -> String {
        prefix + Base64URL.encode(JSONObject([("TID", .string(name))]).bytes)
    }

    static func name(_ text: String) -> String? {
        guard text.hasPrefix(prefix), let bytes = Base64.decodeLenient(text.dropFirst(prefix.count)) else { return nil }
        return (try? JSONValue(parsing: bytes))?.object?["TID"]?.string
    }

    /// The answer to a step of a transaction that is unknown or over, with the code of B2C.
    static func expiredPage(_ context: RequestContext) -> Response {
        let code = context.provider.traits.hasPageOfB2C ? "AADB2C90046: " : ""
        return Page(
            title: "This sign-in is over",
            content: """
                <p role="alert">\(code)We are having trouble loading your current state. You might want to try \
                starting your session over from the beginning.</p>
                """, status: 400
        ).response
    }
}
