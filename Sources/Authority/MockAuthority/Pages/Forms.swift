import Basics

enum PageForm: String, Sendable {
    case signIn = "sign-in"
    case signUp = "sign-up"
    case profile
    case resetPassword = "reset-password"
    case facebook
    case device

    var title: String { parts.title }

    /// The title, the name of the button that sends the form, and the fields.
    fileprivate var parts: (title: String, verb: String, inputs: [PageInput]) {
        switch self {
        case .signIn: ("Sign in", "Sign in", [.signInName, .password])
        case .signUp: ("Sign up", "Create", PageInput.ofNewPassword + [.displayName])
        case .profile: ("Edit your profile", "Continue", [.displayName, .givenName, .surname])
        case .resetPassword: ("Reset your password", "Continue", PageInput.ofNewPassword)
        case .facebook:
            ("Log in to “Facebook”", "Continue", [.email, PageInput("displayName", "Name", "text", "name")])
        case .device: ("Enter code", "Next", [.userCode, .signInName, .password])
        }
    }
}

/// One field of a form, under its name on the real page.
private struct PageInput {
    let name: String
    let label: String
    let type: String
    let autocomplete: String

    init(_ name: String, _ label: String, _ type: String, _ autocomplete: String) {
        (self.name, self.label, self.type, self.autocomplete) = (name, label, type, autocomplete)
    }

    static let signInName = PageInput("signInName", "Email address", "email", "username")
    static let password = PageInput("password", "Password", "password", "current-password")
    static let email = PageInput("email", "Email address", "email", "username")
    static let displayName = PageInput("displayName", "Display name", "text", "name")
    static let givenName = PageInput("givenName", "Given name", "text", "given-name")
    static let surname = PageInput("surname", "Surname", "text", "family-name")
    static let userCode = PageInput("user_code", "Code shown on your device", "text", "one-time-code")
    static let ofNewPassword = [
        email, PageInput("newPassword", "New password", "password", "new-password"),
        PageInput("reenterPassword", "Confirm new password", "password", "new-password"),
    ]

    func html(_ value: String?, hasFocus: Bool, describedByAlert: Bool) -> HTML {
        let focus: HTML = hasFocus ? " autofocus" : ""
        let description: HTML = describedByAlert ? " aria-describedby=\"alert\"" : ""
        let value: HTML = value.map { " value=\"\($0)\"" } ?? ""
        return """
            <label for="\(name)">\(label)</label>
            <input id="\(name)" name="\(name)" type="\(type)" autocomplete="\(autocomplete)"\
            \(value)\(focus)\(description)>
            """
    }
}

/// A form as HTML: the submit button comes first, so that Enter submits.
struct FormHTML {
    let form: PageForm
    let action: String
    let csrf: String
    var alert: String?
    var given: (String) -> String? = { _ in nil }
    /// Whether there is a button for people who forgot their password.
    var offersReset = true
    var signUpLink: String?
    /// The accounts that a click signs in.
    var people: [User] = []

    var html: HTML {
        let inputs = form.parts.inputs.map { input in (input, value: input.type == "password" ? nil : given(input.name))
        }
        let focus = inputs.firstIndex { $0.value?.isEmpty ?? true } ?? 0
        let fields = inputs.enumerated().map { index, element in
            element.0.html(element.value, hasFocus: index == focus, describedByAlert: alert != nil)
        }
        let message: HTML = alert.map { "<p id=\"alert\" role=\"alert\">\($0)</p>\n" } ?? ""
        let forgotten: HTML =
            form == .signIn && offersReset
            ? "<button name=\"action\" value=\"forgot\">Forgot your password?</button>\n" : ""
        let link: HTML = signUpLink.map { "<p class=\"aside\">No account? <a href=\"\($0)\">Sign up now</a></p>" } ?? ""
        let picker: HTML = people.isEmpty ? "" : "<p class=\"aside\">Or sign in without a password as</p>\n"
        return """
            \(message)<form id="localAccountForm" method="post" action="\(action)">
            <input type="hidden" name="csrf" value="\(csrf)">
            <input type="hidden" name="form" value="\(form.rawValue)">
            \(fields)
            <button id="next" class="primary" name="action" value="continue">\(form.parts.verb)</button>
            \(forgotten)<button id="cancel" name="action" value="cancel">Cancel</button>
            \(picker)\(people.map { $0.button(named: "person") })
            </form>
            \(link)
            """
    }
}

extension User {
    /// A button of a form that chooses the account.
    func button(named name: String) -> HTML {
        let shown = [self.name.display, email].filter { !$0.isEmpty }.joined(separator: ", ")
        return #"<button name="\#(name)" value="\#(objectID)">\#(shown)</button>"#
    }
}

/// Acts on a form that was sent: gives the account, or an error for the page.
struct FormReader: Sendable {
    let run: TestRun
    let fields: Parameters

    enum Outcome: Sendable {
        case person(User, isNew: Bool)
        /// The code is for scripts of the real page, the message for people.
        case failure(code: String, message: String)

        static let invalidAddress = Outcome.failure(
            code: "UserMessageIfInvalid", message: "Please enter a valid email address.")
        static let missingName = Outcome.failure(code: "UserMessageIfInvalid", message: "Please enter a display name.")
        static let accountNotFound = Outcome.failure(
            code: "AADB2C90053", message: "An account could not be found for the provided user ID.")
    }

    /// Acts on the form; `user` is the account of a profile that is edited.
    func read(_ form: PageForm, user: User?) -> Outcome {
        switch form {
        case .signIn, .device: signIn()
        case .signUp: signUp()
        case .profile: profile(user)
        case .resetPassword: resetPassword()
        case .facebook: facebook()
        }
    }

    private func signIn() -> Outcome {
        guard let name = fields["signInName"] ?? fields["logonIdentifier"] ?? fields["email"] else {
            return .failure(code: "AADB2C90053", message: "Please enter your email address.")
        }
        guard let password = fields["password"] else {
            return .failure(code: "AADB2C90054", message: "Please enter your password.")
        }
        if let user = run.directory.user(email: name, password: password) { return .person(user, isNew: false) }
        let isKnown = run.directory.all.contains { $0.email.isEqualIgnoringCase(to: name) && $0.password != nil }
        return isKnown
            ? .failure(code: "AADB2C90054", message: "Your password is incorrect.")
            : .failure(code: "AADB2C90053", message: "We can’t seem to find your account.")
    }

    private func signUp() -> Outcome {
        guard let email = fields["email"], email.looksLikeAddress else { return .invalidAddress }
        if let message = faultOfNewPassword { return .failure(code: "AADB2C90054", message: message) }
        guard let name = fields["displayName"] else { return .missingName }
        let user = User(
            objectID: GUID.random(), email: email, password: fields["newPassword"],
            name: PersonName(
                display: name, given: fields["givenName"] ?? "", family: fields["surname"] ?? ""))
        guard run.directory.put(user) else {
            return .failure(
                code: "AADB2C90001",
                message: "A user with the specified ID already exists. Please choose a different one.")
        }
        return .person(user, isNew: true)
    }

    private var faultOfNewPassword: String? {
        guard let password = fields["newPassword"], password.count >= 8 else {
            return "The password must have at least 8 characters."
        }
        guard password.isSame(as: fields["reenterPassword"] ?? "") else {
            return "The password entry fields do not match. Please enter the same password in both."
        }
        return nil
    }

    /// Sets a new password: B2C mails a code to the address first; here the address is enough.
    private func resetPassword() -> Outcome {
        guard let email = fields["email"], email.looksLikeAddress else { return .invalidAddress }
        let known = run.directory.all.first { $0.password != nil && $0.email.isEqualIgnoringCase(to: email) }
        guard var user = known, !user.status.disabled else { return .accountNotFound }
        if let message = faultOfNewPassword { return .failure(code: "AADB2C90054", message: message) }
        user.password = fields["newPassword"]
        run.directory.put(user)
        return .person(user, isNew: false)
    }

    private func profile(_ user: User?) -> Outcome {
        guard var user else { return .failure(code: "AADB2C90046", message: "Please sign in first.") }
        guard let name = fields["displayName"] else { return .missingName }
        user.name = PersonName(display: name, given: fields["givenName"] ?? "", family: fields["surname"] ?? "")
        run.directory.put(user)
        return .person(user, isNew: false)
    }

    /// An account of the provider, made when it is first seen.
    private func facebook() -> Outcome {
        guard let email = fields["email"], email.looksLikeAddress else { return .invalidAddress }
        let known = run.directory.all.first {
            $0.status.identityProvider == "facebook.com" && $0.email.isEqualIgnoringCase(to: email)
        }
        if let known { return known.status.disabled ? .accountNotFound : .person(known, isNew: false) }
        let name = fields["displayName"] ?? String(email.prefix { $0 != "@" })
        var user = User(objectID: GUID.random(), email: email, password: nil, name: PersonName(display: name))
        user.status.identityProvider = "facebook.com"
        run.directory.put(user)
        return .person(user, isNew: true)
    }
}

extension String {
    /// Something, an `@`, something; no more is checked.
    fileprivate var looksLikeAddress: Bool {
        let parts = utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && utf8.allSatisfy { $0 > 0x20 }
    }
}
