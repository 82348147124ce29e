import Basics
import HTTP
import OpenSSL

/// A page of the authority: one look, no script but the named one, nothing from other hosts.
struct Page: Sendable {
    let title: String
    let content: HTML
    var script = ""
    var status: Status = 200
    var headers = FieldLines()
    /// The small text above the heading: the owner of the page.
    var overline = "mock-authority"

    private static let style = String(
        decoding: PackageResources.common_css + PackageResources.sign_in_css, as: UTF8.self)

    /// No `form-action` in the policy: browsers apply it to the redirect to the client after the form, too.
    var response: Response {
        let nonce = Base64.encode(SecureRandom.bytes(16))
        let scripts = script.isEmpty ? "" : " script-src 'nonce-\(nonce)';"
        var fields: FieldLines = [
            "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "Content-Security-Policy":
                "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none';\(scripts)",
        ]
        fields.append(headers)
        return Response.content(Array(html(nonce).text.utf8), "text/html", status: status, headers: fields)
    }

    private func html(_ nonce: String) -> HTML {
        let scriptElement: HTML = script.isEmpty ? "" : "<script nonce=\"\(nonce)\">\(verbatim: script)</script>\n"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style>\(verbatim: Self.style)</style>
            </head>
            <body>
            <main class="card">
            <p class="overline">\(overline)</p>
            <h1>\(title)</h1>
            \(content)
            </main>
            <footer>For development only. This page knows no real accounts.</footer>
            \(scriptElement)</body>
            </html>

            """
    }
}

extension RequestContext {
    /// A refusal that may not be sent to the client, because its redirect URI is not known to be good.
    func errorPage(_ refusal: Refusal) -> Response {
        let lines = words(of: refusal).description.split(whereSeparator: \.isNewline).map(String.init)
        let text: HTML = lines.dropFirst().reduce("\(lines.first ?? "")") { "\($0)<br>\($1)" }
        return Page(title: "Sorry, but we’re having trouble", content: "<p role=\"alert\">\(text)</p>", status: 400)
            .response
    }
}

extension Page {
    /// The page that posts an answer to the client by itself (OAuth 2.0 Form Post Response Mode).
    static func formPost(_ fields: [(String, String)], to action: String, _ headers: FieldLines) -> Page {
        let inputs = fields.map { name, value -> HTML in
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        }
        let form: HTML = """
            <form id="auto" method="post" action="\(action)">
            \(inputs)
            <noscript><button class="primary">Continue</button></noscript>
            </form>
            """
        return Page(
            title: "Signing you in", content: form, script: "document.getElementById('auto').submit()",
            headers: headers)
    }
}

/// HTML, into which a text is put escaped and HTML as it is.
///
/// A literal is HTML, so the compiler decides which of both an interpolated value is, and no call can be forgotten.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral value: String) {
        text = value
    }

    init(stringInterpolation: Interpolation) {
        text = stringInterpolation.text
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(2 * literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ value: String) { text += value.escapedForMarkup }

        mutating func appendInterpolation(_ html: HTML) { text += html.text }

        mutating func appendInterpolation(verbatim value: String) { text += value }

        mutating func appendInterpolation(_ list: [HTML]) {
            text += list.map(\.text).joined(separator: "\n")
        }
    }
}

extension String {
    /// The text, escaped for the text and for quoted attributes of HTML and XML.
    ///
    /// Each scalar is looked at: a combining mark after a quotation mark makes another character of both.
    package var escapedForMarkup: String {
        unicodeScalars.reduce(into: "") { text, scalar in text += Self.references[scalar] ?? String(scalar) }
    }

    private static let references: [Unicode.Scalar: String] = [
        "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
    ]
}
