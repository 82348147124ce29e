/// The accounts that signed in with a browser, each a button of a form.
struct AccountsHTML {
    let accounts: [User]
    let action: String
    let csrf: String

    var html: HTML {
        let buttons = accounts.map { user -> HTML in
            let shown = [user.name.display, user.email].filter { !$0.isEmpty }.joined(separator: ", ")
            return #"<button name="account" value="\#(user.objectID)">\#(shown)</button>"#
        }
        return """
            <form id="accounts" method="post" action="\(action)">
            <input type="hidden" name="csrf" value="\(csrf)">
            <input type="hidden" name="form" value="\(PageForm.signIn.rawValue)">
            \(buttons)
            <button name="action" value="other">Use another account</button>
            <button name="action" value="cancel">Cancel</button>
            </form>
            """
    }
}
