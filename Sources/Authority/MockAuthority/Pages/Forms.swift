/// The forms that people fill in.
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

    /// The fields, under the names of the real page.
    func inputs(_ given: (String) -> String?) -> [PageInput] {
        switch self {
        case .signIn:
            [
                PageInput("signInName", "Email address", .email, "username", given("signInName")),
                PageInput("password", "Password", .password, "current-password", nil),
            ]
        case .signUp:
            newPassword(given) + [PageInput("displayName", "Display name", .text, "name", given("displayName"))]
        case .resetPassword: newPassword(given)
        case .profile:
            [
                PageInput("displayName", "Display name", .text, "name", given("displayName")),
                PageInput("givenName", "Given name", .text, "given-name", given("givenName")),
                PageInput("surname", "Surname", .text, "family-name", given("surname")),
            ]
        case .facebook:
            [
                PageInput("email", "Email address", .email, "username", given("email")),
                PageInput("displayName", "Name", .text, "name", given("displayName")),
            ]
        case .device:
            [PageInput("user_code", "Code shown on your device", .text, "one-time-code", given("user_code"))]
                + PageForm.signIn.inputs(given)
        }
    }

    private func newPassword(_ given: (String) -> String?) -> [PageInput] {
        [
            PageInput("email", "Email address", .email, "username", given("email")),
            PageInput("newPassword", "New password", .password, "new-password", nil),
            PageInput("reenterPassword", "Confirm new password", .password, "new-password", nil),
        ]
    }
}

/// One field of a form.
struct PageInput: Sendable {
    /// The types of fields.
    enum Kind: String, Sendable {
        case text, email, password
    }

    private let name: String
    private let label: String
    private let kind: Kind
    private let autocomplete: String
    private let value: String?

    init(_ name: String, _ label: String, _ kind: Kind, _ autocomplete: String, _ value: String?) {
        self.name = name
        self.label = label
        self.kind = kind
        self.autocomplete = autocomplete
        self.value = value
    }

    var isEmpty: Bool { value?.isEmpty ?? true }

    func html(hasFocus: Bool, describedByAlert: Bool) -> HTML {
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
    /// The values of the fields.
    var given: (String) -> String? = { _ in nil }
    /// Whether there is a button for people who forgot their password.
    var offersReset = true
    /// The link for people without an account.
    var signUpLink: String?
    /// An account that a button of sign-in.js fills in.
    var example: User?

    var html: HTML {
        let inputs = form.inputs(given)
        let focus = inputs.firstIndex { $0.isEmpty } ?? 0
        let fields = inputs.enumerated().map { index, input in
            input.html(hasFocus: index == focus, describedByAlert: alert != nil)
        }
        let message: HTML = alert.map { "<p id=\"alert\" role=\"alert\">\($0)</p>\n" } ?? ""
        let forgotten: HTML =
            form == .signIn && offersReset
            ? "<button name=\"action\" value=\"forgot\">Forgot your password?</button>\n" : ""
        let link: HTML =
            signUpLink.map { "<p class=\"aside\">No account? <a href=\"\($0)\">Sign up now</a></p>" } ?? ""
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
