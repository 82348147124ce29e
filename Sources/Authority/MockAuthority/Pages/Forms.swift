enum PageForm: String, Sendable {
    case signIn = "sign-in"
    case signUp = "sign-up"
    case profile
    case resetPassword = "reset-password"
    case facebook
    case device

    var title: String {
        switch self {
        case .signIn: "Sign in"
        case .signUp: "Sign up"
        case .profile: "Edit your profile"
        case .resetPassword: "Reset your password"
        case .facebook: "Log in to “Facebook”"
        case .device: "Enter code"
        }
    }

    fileprivate var verb: String {
        switch self {
        case .signIn: "Sign in"
        case .signUp: "Create"
        case .profile, .resetPassword, .facebook: "Continue"
        case .device: "Next"
        }
    }

    fileprivate var inputs: [PageInput] {
        switch self {
        case .signIn: [.signInName, .password]
        case .signUp: PageInput.ofNewPassword + [.displayName]
        case .resetPassword: PageInput.ofNewPassword
        case .profile: [.displayName, .givenName, .surname]
        case .facebook: [.email, PageInput("displayName", "Name", .text, "name")]
        case .device: [.userCode, .signInName, .password]
        }
    }
}

/// One field of a form, under its name on the real page.
private struct PageInput {
    enum Kind: String {
        case text, email, password
    }

    let name: String
    let label: String
    let kind: Kind
    let autocomplete: String

    init(_ name: String, _ label: String, _ kind: Kind, _ autocomplete: String) {
        (self.name, self.label, self.kind, self.autocomplete) = (name, label, kind, autocomplete)
    }

    static let signInName = PageInput("signInName", "Email address", .email, "username")
    static let password = PageInput("password", "Password", .password, "current-password")
    static let email = PageInput("email", "Email address", .email, "username")
    static let displayName = PageInput("displayName", "Display name", .text, "name")
    static let givenName = PageInput("givenName", "Given name", .text, "given-name")
    static let surname = PageInput("surname", "Surname", .text, "family-name")
    static let userCode = PageInput("user_code", "Code shown on your device", .text, "one-time-code")
    static let ofNewPassword = [
        email, PageInput("newPassword", "New password", .password, "new-password"),
        PageInput("reenterPassword", "Confirm new password", .password, "new-password"),
    ]

    func html(_ value: String?, hasFocus: Bool, describedByAlert: Bool) -> HTML {
        let focus: HTML = hasFocus ? " autofocus" : ""
        let description: HTML = describedByAlert ? " aria-describedby=\"alert\"" : ""
        let value: HTML = value.map { " value=\"\($0)\"" } ?? ""
        return """
            <label for="\(name)">\(label)</label>
            <input id="\(name)" name="\(name)" type="\(kind.rawValue)" autocomplete="\(autocomplete)"\
            \(value)\(focus)\(description)>
            """
    }
}

/// A form as HTML: the submit button comes first, so that Enter submits.
struct FormHTML {
    let form: PageForm
    let action: String
    let csrf: String
    /// The error of the form that was sent before.
    var alert: String?
    var given: (String) -> String? = { _ in nil }
    /// Whether there is a button for people who forgot their password.
    var offersReset = true
    var signUpLink: String?
    /// An account that a button of sign-in.js fills in.
    var example: User?

    var html: HTML {
        let inputs = form.inputs.map { input in (input, value: input.kind == .password ? nil : given(input.name)) }
        let focus = inputs.firstIndex { $0.value?.isEmpty ?? true } ?? 0
        let fields = inputs.enumerated().map { index, element in
            element.0.html(element.value, hasFocus: index == focus, describedByAlert: alert != nil)
        }
        let message: HTML = alert.map { "<p id=\"alert\" role=\"alert\">\($0)</p>\n" } ?? ""
        let forgotten: HTML =
            form == .signIn && offersReset
            ? "<button name=\"action\" value=\"forgot\">Forgot your password?</button>\n" : ""
        let link: HTML = signUpLink.map { "<p class=\"aside\">No account? <a href=\"\($0)\">Sign up now</a></p>" } ?? ""
        let exampleButton: HTML =
            example.map {
                #"<button id="example" hidden data-email="\#($0.email)" data-password="\#($0.password ?? "")"></button>"#
            } ?? ""
        return """
            \(message)<form id="localAccountForm" method="post" action="\(action)">
            <input type="hidden" name="csrf" value="\(csrf)">
            <input type="hidden" name="form" value="\(form.rawValue)">
            \(fields)
            <button id="next" class="primary" name="action" value="continue">\(form.verb)</button>
            \(forgotten)<button id="cancel" name="action" value="cancel">Cancel</button>
            </form>
            \(exampleButton)
            \(link)
            """
    }
}
