import Basics

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
        /// There is no such account, or it may not sign in.
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

    /// Sets a new password.
    ///
    /// B2C mails a code to the address first; here the address is enough.
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
