import Basics
import HTTP
import JSON
@testable import MockAuthority
import Support

/// A browser without a screen: keeps cookies, follows nothing, sends forms as people would.
final class Browser {
    let mock: TestAuthority
    private(set) var cookies: [(name: String, value: String)] = []

    init(_ mock: TestAuthority) { self.mock = mock }

    struct Lost: Error {
        let what: String
    }

    func send(
        _ method: Method, _ target: String, body: String = "", headers: HeaderFields = HeaderFields()
    ) async throws -> Response {
        var fields = headers
        if !cookies.isEmpty {
            fields.append("Cookie", cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; "))
        }
        let response = try await mock.ask(method, target, body: body, headers: fields)
        for cookie in response.headers.values("Set-Cookie") { keep(cookie) }
        return response
    }

    private func keep(_ cookie: String) {
        let pair = cookie.prefix { $0 != ";" }
        guard let cut = pair.firstIndex(of: "=") else { return }
        let name = String(pair[..<cut])
        cookies.removeAll { $0.name == name }
        if !cookie.contains("Max-Age=0") { cookies.append((name, String(pair[pair.index(after: cut)...]))) }
    }

    /// Opens the authorization endpoint of a policy.
    func authorize(_ query: String, policy: String = "b2c_1_sign_in") async throws -> Response {
        try await send(.get, "/contoso.onmicrosoft.com/\(policy)/oauth2/v2.0/authorize?\(query)")
    }

    /// Fills in the form of a page and sends it with a button.
    func submit(_ page: Response, _ fields: [(String, String)], button: String = "continue") async throws -> Response {
        let text = page.text
        guard let action = text.between("method=\"post\" action=\"", "\""),
            let csrf = text.between("name=\"csrf\" value=\"", "\""),
            let form = text.between("name=\"form\" value=\"", "\"")
        else { throw Lost(what: "no form on the page") }
        let all = [("csrf", csrf.unescaped), ("form", form)] + fields + [("action", button)]
        let body = all.map { "\($0.0)=\($0.1.percentEncoded)" }.joined(separator: "&")
        return try await send(
            .post, action.unescaped, body: body, headers: ["Content-Type": "application/x-www-form-urlencoded"])
    }

    /// Signs a new person up.
    func signUp(_ page: Response, _ email: String, _ name: String, password: String = "Passw0rd!") async throws
        -> Response
    {
        let passwords = [("newPassword", password), ("reenterPassword", password)]
        return try await submit(page, [("email", email)] + passwords + [("displayName", name)])
    }

    /// Signs alice in.
    func signIn(_ page: Response, _ user: String = "alice@example.com") async throws -> Response {
        try await submit(page, [("signInName", user), ("password", "Passw0rd!")])
    }
}

extension String {
    /// The text between two marks.
    func between(_ start: String, _ end: String) -> String? {
        guard let from = firstRange(of: start)?.upperBound, let to = self[from...].firstRange(of: end)?.lowerBound
        else { return nil }
        return String(self[from..<to])
    }

    var unescaped: String {
        [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
            .reduce(self) { text, escape in text.replacing(escape.0, with: escape.1) }
    }

    var percentEncoded: String { PercentEncoding.encode(self) }
}

extension Response {
    /// Where a redirect goes, up to its parameters.
    var destination: String? { headers["Location"].map { String($0.prefix { $0 != "?" && $0 != "#" }) } }

    /// The parameters of a redirect, of the query or the fragment.
    var answer: [(name: String, value: String)] {
        guard let location = headers["Location"],
            let start = location.firstIndex(where: { $0 == "?" || $0 == "#" })
        else { return [] }
        do {
            return try FormURLEncoded.parse(Array(location[location.index(after: start)...].utf8)).fields.map {
                ($0.name, $0.value)
            }
        } catch {
            return []
        }
    }

    func answer(_ name: String) -> String? { answer.first { $0.name == name }?.value }
}
