import Basics
import HTTP

/// One step of a sign-in: shows its page, or acts on what was sent.
struct SignInStep: Sendable {
    let context: RequestContext
    let transaction: Transaction
    let name: String

    private var start: String { context.url.pages(of: context.policy) }
    private var isB2C: Bool { context.configuration.profile == .b2c }
    /// Who signed in before, as the account is now.
    var user: User? { transaction.user(in: context.run.directory) }

    /// The address to which the forms are sent.
    private var action: String {
        "\(start)/\(Routes.page.path)?tx=\(PercentEncoding.encode(StateProperties.text(name), .lower))"
    }

    /// Returns the form that comes next.
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

    /// Returns the page, with the error and the fields of a form that was sent.
    func page(
        asked: String? = nil, alert: String? = nil, fields: Parameters? = nil, cookie: String? = nil
    ) -> Response {
        let accounts = asked == nil && transaction.choosing && user == nil ? Session(context: context).accounts : []
        guard accounts.isEmpty else { return accountsPage(accounts.map(\.user)) }
        let form = form(asked)
        let offersSignUp = context.policy.kind == .signUpOrSignIn && form == .signIn
        let example = form == .signIn ? example : nil
        let html = FormHTML(
            form: form, action: action, csrf: transaction.csrf, alert: alert,
            given: { known($0, fields) }, offersReset: isB2C,
            signUpLink: offersSignUp ? "\(action)&form=\(PageForm.signUp.rawValue)" : nil,
            example: example)
        let settings = PageSettings(step: self, form: form, offersSignUp: offersSignUp)
        // Clients without a browser know the page of B2C only, and expect the settings at the end of its script.
        var headers = isB2C ? settings.cookies : FieldLines()
        if let cookie { headers.append("Set-Cookie", cookie) }
        let script = (example == nil ? "" : Self.exampleScript) + (isB2C ? settings.script : "")
        return Page(
            title: form.title, content: html.html, script: script, headers: headers,
            overline: context.configuration.tenant.name
        ).response
    }

    /// The accounts that signed in with the browser, each a button of a form.
    private func accountsPage(_ accounts: [User]) -> Response {
        let buttons = accounts.map { user -> HTML in
            let shown = [user.name.display, user.email].filter { !$0.isEmpty }.joined(separator: ", ")
            return #"<button name="account" value="\#(user.objectID)">\#(shown)</button>"#
        }
        let form: HTML = """
            <form id="accounts" method="post" action="\(action)">
            <input type="hidden" name="csrf" value="\(transaction.csrf)">
            <input type="hidden" name="form" value="\(PageForm.signIn.rawValue)">
            \(buttons)
            <button name="action" value="other">Use another account</button>
            <button name="action" value="cancel">Cancel</button>
            </form>
            """
        return Page(title: "Pick an account", content: form, overline: context.configuration.tenant.name).response
    }

    private static let exampleScript = String(decoding: PackageResources.sign_in_js, as: UTF8.self)

    /// The first account of the configuration that its password still opens.
    ///
    /// Accounts of people who signed up are not offered.
    private var example: User? {
        context.configuration.users.first { user in
            context.run.directory.user(email: user.email, password: user.password ?? "")?.objectID == user.objectID
        }
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

    /// Acts on a form that was sent.
    func act(_ fields: Parameters) async -> Response {
        guard fields["csrf"] == transaction.csrf else { return StateProperties.expiredPage(context) }
        switch fields["action"] {
        case "cancel": return refuse(.cancelled)
        case "forgot": return refuse(.forgotPassword)
        case "other": return page(asked: PageForm.signIn.rawValue)
        default: break
        }
        if let objectID = fields["account"] { return await choose(objectID) }
        let form = form(fields["form"])
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
        let outcome = Transaction.Outcome(user: user.objectID, newUser: isNew)
        context.run.transactions.finish(name, outcome)
        guard context.policy.kind == .editProfile, form == .signIn else {
            return await finish(user, isNew: isNew, signedIn: signedIn)
        }
        var next = transaction
        next.outcome = outcome
        return SignInStep(context: context, transaction: next, name: name).page(
            cookie: Session(context: context).cookie(for: user, signedIn: signedIn ?? context.now))
    }

    /// Returns the answer for the client, and remembers the session.
    ///
    /// Without a time, the sign-in is now.
    func finish(_ user: User, isNew: Bool, signedIn: Int64? = nil) async -> Response {
        if context.configuration.profile == .strict, await transaction.request.options.hint.excludes(user, context) {
            return refuse(.loginRequired)
        }
        context.run.transactions.end(name)
        let time = signedIn ?? context.now
        let answer = AuthorizationResponse(context: context, request: transaction.request)
        return await answer.response(
            user, signedIn: time, newUser: isNew,
            headers: ["Set-Cookie": Session(context: context).cookie(for: user, signedIn: time)])
    }

    private func refuse(_ refusal: Refusal) -> Response {
        context.run.transactions.end(name)
        return transaction.request.delivery.response(refusal, context)
    }
}
