internal import HTTP
internal import OpenSSL

/// A page of the authority: one look, no script but what is named here, nothing from elsewhere.
struct Page: Sendable {
    /// In the title and as heading.
    let title: String
    /// HTML below the heading; whoever wrote it has escaped what it quotes.
    let content: String
    /// A script, if the page needs one.
    var script: String?
    var status: Status = 200
    var headers = HeaderFields()

    /// The answer.
    ///
    /// No `form-action` in the policy: browsers apply it to the redirect behind the form too, and that goes to the
    /// client.
    var response: Response {
        let nonce = Base64.encode(SecureRandom.bytes(16))
        let scripts = script == nil ? "" : " script-src 'nonce-\(nonce)';"
        var fields: HeaderFields = [
            "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "Content-Security-Policy":
                "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none';\(scripts)",
        ]
        for field in headers.fields { fields.append(field.name, field.value) }
        return Reply.html(html(nonce), status: status, headers: fields)
    }

    private func html(_ nonce: String) -> String {
        let scriptElement = script.map { "<script nonce=\"\(nonce)\">\($0)</script>\n" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title.htmlEscaped)</title>
            <style>\(PageStyle.text)</style>
            </head>
            <body>
            <main>
            <h1>\(title.htmlEscaped)</h1>
            \(content)
            </main>
            <footer>mock-authority: for development, no real accounts</footer>
            \(scriptElement)</body>
            </html>

            """
    }
}

/// The look: readable on a phone, with a visible focus, in light and dark.
enum PageStyle {
    static let text = """
        :root{color-scheme:light dark;--line:#8a8f98;--accent:#0b5cad;--alert:#b3261e}
        @media(prefers-color-scheme:dark){:root{--accent:#7db7f0;--alert:#ffb4ab}}
        *{box-sizing:border-box}
        body{font:1rem/1.5 system-ui,sans-serif;margin:0;padding:1.5rem;display:flex;flex-direction:column;\
        align-items:center;min-height:100vh;justify-content:center}
        main{width:100%;max-width:24rem;border:1px solid var(--line);border-radius:.75rem;padding:1.5rem}
        h1{font-size:1.5rem;margin:0 0 1rem}
        label{display:block;margin:.75rem 0 .25rem;font-weight:600}
        input{width:100%;font:inherit;padding:.6rem .7rem;border:1px solid var(--line);border-radius:.4rem}
        button,.button{width:100%;font:inherit;padding:.65rem;margin-top:1rem;border-radius:.4rem;cursor:pointer;\
        border:1px solid var(--accent);background:transparent;color:var(--accent);display:block;text-align:center}
        button.primary{background:var(--accent);color:Canvas;font-weight:600}
        a{color:var(--accent)}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        [role=alert]{border-left:.3rem solid var(--alert);color:var(--alert);padding:.25rem .75rem;margin:0 0 1rem}
        footer{margin-top:1rem;font-size:.85rem;opacity:.75}
        """
}

/// A refusal that may not be told the client, because where the answer would go is not known to be good.
struct ErrorPage {
    private let refusal: Refusal
    private let call: Call

    init(_ refusal: Refusal, _ call: Call) {
        self.refusal = refusal
        self.call = call
    }

    var response: Response {
        let words = refusal.description(correlation: call.correlation, now: call.now).htmlEscaped
        let lines = words.split(whereSeparator: \.isNewline).joined(separator: "<br>")
        return Page(title: "Sorry, but we’re having trouble", content: "<p role=\"alert\">\(lines)</p>", status: 400)
            .response
    }
}

/// The page that posts an answer to the client by itself (OAuth 2.0 Form Post Response Mode).
struct FormPostPage {
    let action: String
    let fields: [(String, String)]

    func response(_ headers: HeaderFields) -> Response {
        let inputs = fields.map { name, value in
            "<input type=\"hidden\" name=\"\(name.htmlEscaped)\" value=\"\(value.htmlEscaped)\">"
        }
        let form = """
            <form id="auto" method="post" action="\(action.htmlEscaped)">
            \(inputs.joined(separator: "\n"))
            <noscript><button class="primary">Continue</button></noscript>
            </form>
            """
        return Page(
            title: "Signing you in", content: form, script: "document.getElementById('auto').submit()",
            headers: headers
        ).response
    }
}
