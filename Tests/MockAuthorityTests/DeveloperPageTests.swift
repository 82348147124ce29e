import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("The developer page shows what happened and uses the controls", .timeLimit(.minutes(15)))
struct DeveloperPageTests {
    let mock = TestAuthority.all()

    private func page(_ query: String = "") async throws -> String {
        if query.contains("run="), try await mock.get("/_mock\(query)").status == 404 {
            _ = try await mock.ask(.post, "/_mock/reset\(query)")
        }
        let response = try await mock.get("/_mock\(query)")
        #expect(response.status == 200)
        return response.text
    }

    /// The answer to a form of the page.
    private func send(_ fields: String, _ query: String = "") async throws -> Response {
        try await mock.ask(
            .post, "/_mock\(query)", body: fields, headers: ["Content-Type": "application/x-www-form-urlencoded"])
    }

    private func state(_ query: String = "") async throws -> JSONObject {
        try await mock.get("/_mock/state\(query)").json()
    }

    @Test("It has nothing of other hosts, no script or style in it, and no frame around it")
    func policy() async throws {
        let response = try await mock.get("/_mock")
        let policy = try #require(response.headers["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'; ") && !policy.contains("unsafe") && !policy.contains("http"))
        #expect(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"))
        #expect(!response.text.contains("<style") && !response.text.contains(" style="))
        let scripts = response.text.split(separator: "<script").dropFirst()
        #expect(scripts.count == 1 && scripts.allSatisfy { $0.hasPrefix(" src=\"/_mock/page.js\"") })
        #expect(response.headers["Cache-Control"] == "no-store")
        for (path, type) in [("page.css", "text/css"), ("page.js", "text/javascript")] {
            let file = try await mock.get("/_mock/\(path)")
            #expect(
                file.status == 200 && file.headers["Content-Type"]?.hasPrefix(type) == true && file.body.count > 500)
        }
    }

    @Test("Every part of it is there for each tenant, and every link leads to a row")
    func parts() async throws {
        for query in ["", "?profile=external-id", "?profile=entra&tenant=northwind.onmicrosoft.com", "?run=r7"] {
            let text = try await page(query)
            for section in DeveloperSection.allCases {
                #expect(text.contains("<section id=\"\(section.rawValue)\""), "\(section) of \(query)")
                #expect(text.contains("href=\"#\(section.rawValue)\""))
            }
        }
    }

    @Test("What comes from outside is text: in requests, accounts, claims and mistakes")
    func escaping() async throws {
        let attack = "<script>alert(1)</script>\"'"
        let encoded = "%3Cscript%3Ealert(1)%3C/script%3E%22%27"
        _ = try await mock.token("grant_type=\(encoded)&x=\(attack)", headers: ["User-Agent": attack])
        _ = try await mock.ask(
            .put, "/_mock/users/eve@example.com",
            body: #"{"name":"<b>Eve","claims":{"extension_<i>":"</textarea><img>"}}"#)
        _ = try await mock.get("/_mock/token?user=eve")
        let refused = try await send("action=revoke&user=\(encoded)")
        #expect(refused.status == 400 && refused.text.contains("There is no user &#39;&lt;script&gt;"))
        for text in [try await page(), refused.text, try await mock.get("/_mock/live").text] {
            #expect(!text.contains("<script>alert") && !text.contains("<b>Eve") && !text.contains("</textarea><img>"))
            #expect(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && text.contains("&lt;b&gt;Eve"))
        }
        // What a query may set is never written as it came.
        let reflected = try await mock.get("/_mock?run=\(encoded)&done=\(encoded)&x=\(encoded)").text
        #expect(!reflected.contains("<script>alert"))
    }

    @Test("Tokens are shown with their claims, whichever way they were issued")
    func tokens() async throws {
        _ = try await mock.get("/_mock/token?user=alice&claim=extension_way=control")
        _ = try await mock.get("/_mock/token?user=alice&bad=not-json")
        _ = try await mock.token("\(PasswordGrantTests.form)&scope=openid")
        let text = try await page()
        #expect(text.contains("&quot;extension_way&quot;: &quot;control&quot;"))
        #expect(text.contains("The payload is not JSON.") && text.contains("<span class=\"mark bad\">not-json</span>"))
        #expect(text.contains("b2c_1_ropc</span>") && text.contains("Valid until 2023-11-14 23:13:20Z."))
        #expect(mock.authority.b2c.runs.unnamed.issuedTokens.after(0).count == 3)
        #expect(!(try await page("?run=r7")).contains("extension_way"))
    }

    @Test("Only the last tokens and requests are kept")
    func bounds() async throws {
        for _ in 0..<51 { _ = try await mock.get("/_mock/token?user=alice&bad=truncated") }
        let run = mock.authority.b2c.runs.unnamed
        let tokens = run.issuedTokens.after(0)
        #expect(tokens.map(\.number) == Array(2...51))
        for _ in 0..<201 { _ = try await mock.get(RunControlTests.keys) }
        #expect(run.recordedRequests.after(0).map(\.number) == Array(2...201))
        #expect(run.recordedRequests.after(200).count == 1)
        let rows = try await page().split(separator: "<li data-number=").count - 1
        #expect(rows == 50 + Activity.shownRequests)
    }

    @Test("What came since is sent alone, and everything after a reset")
    func live() async throws {
        let run = mock.authority.b2c.runs.unnamed.identifier
        _ = try await mock.get(RunControlTests.keys)
        _ = try await mock.get("/_mock/token?user=alice")
        let first = try await mock.get("/_mock/live?of=\(run)&requests=0&tokens=0").text
        #expect(first.contains("/discovery/v2.0/keys") && first.contains("Alice Example") && first.contains(run))
        #expect(try await mock.get("/_mock/live?of=\(run)&requests=1&tokens=1").status == 204)
        _ = try await mock.get(RunControlTests.metadata)
        let second = try await mock.get("/_mock/live?of=\(run)&requests=1&tokens=1").text
        #expect(second.contains("openid-configuration") && !second.contains("/discovery/v2.0/keys"))
        _ = try await mock.ask(.post, "/_mock/faults", body: #"{"at":"token","status":503}"#)
        let third = try await mock.get("/_mock/live?of=\(run)&requests=2&tokens=1&faults=0").text
        #expect(third.contains("data-changes=\"1\"") && !third.contains("data-number"))
        #expect(third.contains("answers 503, 1 time<"))
        #expect(try await mock.get("/_mock/live?of=\(run)&requests=2&tokens=1&faults=1").status == 204)
        _ = try await mock.ask(.post, "/_mock/reset")
        let afterwards = try await mock.get("/_mock/live?of=\(run)&requests=2&tokens=1")
        #expect(afterwards.status == 200 && !afterwards.text.contains(run) && !afterwards.text.contains("<li"))
    }

    @Test("Its forms do what the controls do, and lead back to the part that shows it")
    func actions() async throws {
        func done(_ fields: String, _ place: String) async throws {
            let response = try await send(fields)
            #expect(response.status == 303 && response.headers["Location"] == place, "\(fields): \(response.text)")
        }
        try await done(
            "action=addUser&email=dora@example.com&password=Passw0rd!&name=Dora&claims=%7B%22extension_level%22:3%7D",
            "/_mock?done=addUser#users")
        let token = try await mock.get("/_mock/token?user=dora").text
        #expect(try Token(String(token.dropLast())).claims["extension_level"]?.integer == 3)
        try await done(
            "action=changeUser&user=dora&name=Dora+D&disabled=true&claims=%7B%7D", "/_mock?done=changeUser#users")
        let dora = try #require(mock.authority.b2c.runs.unnamed.directory.user(called: "dora"))
        #expect(dora.name.display == "Dora D" && dora.status.disabled && dora.claims == JSONObject())
        try await done("action=revoke&user=dora", "/_mock?done=revoke#users")
        try await done("action=removeUser&user=dora", "/_mock?done=removeUser#users")
        try await done("action=clock&skew_s=-7200", "/_mock?done=clock#clock")
        try await done("action=keys&do=publish", "/_mock?done=keys#keys")
        try await done(
            "action=fault&at=keys&times=2&status=503&delay_ms=&retry_after=7&body=&cut=true", "/_mock?done=fault#faults"
        )
        let state = try await state()
        #expect(state["users"]?.array?.count == 2 && state["skew_s"]?.integer == -7200)
        let fault = try #require(state["faults"]?.array?.first?.object)
        #expect(fault["times"]?.integer == 2 && fault["status"]?.integer == 503 && fault["cut"]?.boolean == true)
        #expect(try await page().contains("<b>keys</b> answers 503, cuts the body, 2 times"))
        try await done("action=reset", "/_mock?done=reset#reset")
        #expect(try await self.state()["faults"] == [])
        #expect(try await page("?done=reset").contains("Everything is as at the start."))
    }

    @Test("A field that was emptied empties what it shows; a name for signing in stays, with the reason")
    func emptied() async throws {
        let fields = "action=changeUser&user=alice&name=Alice&givenName=&familyName=&password=&claims="
        _ = try await mock.ask(.put, "/_mock/users/alice", body: #"{"claims":{"extension_level":3}}"#)
        #expect(try await send("\(fields)&email=alice@example.com").status == 303)
        let alice = try #require(mock.authority.b2c.runs.unnamed.directory.user(called: "alice"))
        #expect(alice.name == PersonName(display: "Alice") && alice.claims == JSONObject())
        #expect(alice.password == "Passw0rd!")
        let refused = try await send("\(fields)&email=")
        #expect(refused.status == 400 && refused.text.contains("a string that is not empty"))
        _ = try await send("action=changeUser&user=alice&name=A")
        let after = try #require(mock.authority.b2c.runs.unnamed.directory.user(called: "alice"))
        #expect(after.name.display == "A" && after.email == "alice@example.com" && !after.status.disabled)
    }

    @Test("A form of another tenant or run changes that one alone")
    func selection() async throws {
        let query = "?profile=external-id&tenant=\(EntraTenants.id)&run=r7"
        let response = try await send("action=clock&skew_s=60", query)
        #expect(response.headers["Location"] == "/_mock\(query)&done=clock#clock")
        #expect(try await state(query)["skew_s"]?.integer == 60)
        for other in ["?run=r7", "?profile=external-id"] {
            #expect(try await state(other)["skew_s"]?.integer == 0)
        }
        let action = "/_mock?profile=external-id&amp;tenant=\(EntraTenants.id)&amp;run=r7"
        #expect(try await page(query).contains("action=\"\(action)\""))
    }

    @Test(
        "The command that it shows gets a token of the tenant and run that are shown",
        arguments: ["", "?profile=external-id", "?profile=entra&tenant=northwind.onmicrosoft.com", "?run=r7"])
    func command(query: String) async throws {
        func token() async throws -> JSONObject {
            let shown = try #require(try await page(query).between("<code>curl -s '", "'</code>")).unescaped
            let base = "http://mock.test:3001"
            try #require(shown.hasPrefix(base))
            let response = try await mock.get(String(shown.dropFirst(base.utf8.count)))
            #expect(response.status == 200, "\(shown): \(response.text)")
            return try Token(String(response.text.dropLast())).claims
        }
        #expect(try await token()["name"] == "Alice Example")
        for user in try await state(query)["users"]?.array ?? [] {
            _ = try await mock.ask(.delete, "/_mock/users/\(user.object?["objectID"]?.string ?? "")\(query)")
        }
        let added = try await send("action=addUser&email=d%2Be%26f@example.com&name=Dora", query)
        #expect(added.status == 303)
        #expect(try await token()["name"] == "Dora")
    }

    @Test(
        "A form that cannot be used is refused with the reason, above the page",
        arguments: [
            ("action=clock&skew_s=1h", "&#39;skew_s&#39; of the form must be a whole number"),
            ("action=fault&at=moon", "must be one of"), ("action=addUser&email=alice@example.com", "already"),
            ("action=addUser&name=Nobody", "Say the address"), ("action=changeUser&user=alice&claims=x", "is not JSON"),
            ("action=changeUser&user=alice&claims=1", "must be an object"), ("action=keys&do=melt", "keys"),
            ("action=removeUser&user=nobody", "There is no user"), ("action=melt", "no action"), ("", "no action"),
        ])
    func mistakes(fields: String, reason: String) async throws {
        let response = try await send(fields)
        #expect(response.status == 400)
        #expect(response.text.between("<p class=\"alert\" role=\"alert\">", "</p>")?.contains(reason) == true)
    }

    @Test("Client settings are those of the program, for the address of the request")
    func clientSettings() async throws {
        var configuration = Configuration()
        configuration.clientSettings = { [ClientSettingsText(kind: "curl", text: "curl <\($0)>")] }
        let text = try await TestAuthority(configuration).ask(.get, "/_mock", host: "localhost:3005").text
        #expect(text.contains("<summary>curl</summary>") && text.contains("curl &lt;http://localhost:3005&gt;"))
    }

    @Test("The root leads browsers there, and says nothing of users and requests to others")
    func root() async throws {
        let response = try await mock.ask(.get, "/", headers: ["Accept": "text/html,*/*"], peer: "192.0.2.7")
        #expect(response.status == 200 && response.text.contains("href=\"/_mock\""))
        #expect(!response.text.contains("alice"))
    }
}
