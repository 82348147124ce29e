import JSON

/// The part of the page about accounts.
extension DeveloperPage {
    var accounts: HTML {
        let rows = users.enumerated().map { account($1, prefix: "user-\($0)") }
        return """
            <ul class="rows">\(rows)</ul>
            <h3>Add a user</h3>
            \(form(.addUser, label: "Add a user", """
                <div class="fields">\(field("email", "Email address", prefix: "new", type: "email"))
                \(field("password", "Password", prefix: "new", value: "Passw0rd!"))
                \(field("name", "Name", prefix: "new"))
                \(claimsField(JSONObject(), prefix: "new"))</div>
                <p><button class="primary">Add</button></p>
                """))
            """
    }

    private func account(_ user: User, prefix: String) -> HTML {
        let mark: HTML = user.status.disabled ? " <span class=\"mark\">disabled</span>" : ""
        return """
            <li><details><summary><b>\(user.name.display)</b> <span>\(user.email)</span>\(mark)</summary>
            <p>Object id <code>\(user.objectID)</code>\(identityProvider(user))</p>
            \(changeForm(user, prefix: prefix))
            \(form(.revoke, label: "Revoke the grants of \(user.email)", named(user, "Revoke its grants")))
            \(form(.removeUser, label: "Remove \(user.email)", named(user, "Remove")))
            </details></li>
            """
    }

    private func identityProvider(_ user: User) -> HTML {
        guard let provider = user.status.identityProvider else { return "" }
        return ", came from <code>\(provider)</code>"
    }

    private func named(_ user: User, _ button: String) -> HTML {
        """
        <input type="hidden" name="user" value="\(user.objectID)"><p><button class="danger">\(button)</button></p>
        """
    }

    private func changeForm(_ user: User, prefix: String) -> HTML {
        let isDisabled: HTML = user.status.disabled ? " checked" : ""
        return form(
            .changeUser, label: "Change \(user.email)",
            """
            <input type="hidden" name="user" value="\(user.objectID)">
            <div class="fields">\(field("email", "Email address", prefix: prefix, value: user.email, type: "email"))
            \(field("password", "Password", prefix: prefix, value: user.password ?? ""))
            \(field("name", "Name", prefix: prefix, value: user.name.display))
            \(field("givenName", "Given name", prefix: prefix, value: user.name.given))
            \(field("familyName", "Family name", prefix: prefix, value: user.name.family))
            \(claimsField(user.claims, prefix: prefix))</div>
            <p class="check"><input id="\(prefix)-disabled" type="checkbox" name="disabled" value="true"\(isDisabled)>
            <label for="\(prefix)-disabled">May not sign in</label></p>
            <p><button class="primary">Change</button></p>
            """)
    }

    private func claimsField(_ claims: JSONObject, prefix: String) -> HTML {
        """
        <p class="field wide"><label for="\(prefix)-claims">More claims, as a JSON object</label>
        <textarea id="\(prefix)-claims" name="claims" rows="3" spellcheck="false">\
        \(JSONValue.object(claims).indentedText)</textarea></p>
        """
    }
}
