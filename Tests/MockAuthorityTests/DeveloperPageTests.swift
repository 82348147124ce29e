import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("The developer page is static, and two documents tell it what happened")
struct DeveloperPageTests {
    let mock = TestAuthority.all()

    private func live(_ query: String) async throws -> JSONObject {
        try await mock.get("/_mock/live?\(query)").json()
    }

    private func numbers(_ news: JSONObject, _ kind: String) -> [Int64] {
        (news[kind]?.array ?? []).compactMap { $0.object?["number"]?.integer }
    }

    @Test func `The page has nothing of other hosts, no script or style in it, and no frame around it`() async throws {
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

    @Test("Every link leads to a section, and every step of keys and every endpoint of a fault can be chosen")
    func parts() async throws {
        let text = try await mock.get("/_mock").text
        let links = text.split(separator: "href=\"#").dropFirst().compactMap { $0.split(separator: "\"").first }
        #expect(links.count == text.split(separator: "<section").count - 1)
        for link in links { #expect(text.contains("<section id=\"\(link)\" aria-labelledby=\"\(link)-title\">")) }
        for step in KeyStep.allCases { #expect(text.contains("name=\"do\" value=\"\(step.rawValue)\"")) }
        for endpoint in Fault.Endpoint.allCases { #expect(text.contains("<option>\(endpoint.rawValue)</option>")) }
    }

    @Test("Tokens are told with their time and defect, whichever way they were issued, in their run alone")
    func tokens() async throws {
        let control = try await mock.get("/_mock/token?user=alice").text
        _ = try await mock.get("/_mock/token?user=alice&bad=not-json")
        _ = try await mock.token("\(PasswordGrantTests.form)&scope=openid")
        let tokens = (try await live("")["tokens"]?.array ?? []).compactMap(\.object)
        #expect(tokens.map { $0["defect"] } == [.null, "not-json", .null])
        #expect(tokens.first?["token"]?.string == control)
        #expect(tokens.allSatisfy { $0["at"]?.integer == TestAuthority.now })
        _ = try await mock.ask(.post, "/_mock/reset?run=r7")
        #expect(try await live("run=r7")["tokens"] == [])
    }

    @Test func `Only the last tokens and requests are kept`() async throws {
        for _ in 0..<51 { _ = try await mock.get("/_mock/token?user=alice&bad=truncated") }
        for _ in 0..<201 { _ = try await mock.get(RunControlTests.keys) }
        let run = mock.authority.b2c.runs.unnamed
        #expect(run.recordedRequests.after(0).map(\.number) == Array(2...201))
        #expect(run.recordedRequests.after(200).count == 1)
        let news = try await live("")
        #expect(numbers(news, "tokens") == Array(2...51))
        #expect(numbers(news, "requests") == Array(152...201))
    }

    @Test func `A page is told only what is new to it, and everything after a reset`() async throws {
        let run = mock.authority.b2c.runs.unnamed.identifier
        _ = try await mock.get(RunControlTests.keys)
        _ = try await mock.get("/_mock/token?user=alice")
        let first = try await live("of=\(run)&requests=0&tokens=0")
        #expect(first["of"]?.string == run && numbers(first, "requests") == [1] && numbers(first, "tokens") == [1])
        let request = try #require(first["requests"]?.array?.first?.object)
        #expect(request["target"]?.string == RunControlTests.keys && request["status"]?.integer == 200)
        _ = try await mock.get(RunControlTests.metadata)
        _ = try await mock.ask(.post, "/_mock/faults", body: #"{"at":"token","status":503}"#)
        let second = try await live("of=\(run)&requests=1&tokens=1")
        #expect(numbers(second, "requests") == [2] && second["tokens"] == [])
        #expect(second["faults"]?.array?.first?.object?["status"]?.integer == 503)
        _ = try await mock.ask(.post, "/_mock/reset")
        _ = try await mock.get(RunControlTests.keys)
        let third = try await live("of=\(run)&requests=2&tokens=1")
        #expect(third["of"]?.string != run && numbers(third, "requests") == [1] && third["faults"] == [])
    }

    @Test(
        "What is registered is told of each tenant, and its metadata is where the document says",
        arguments: ["", "?profile=external-id", "?profile=entra&tenant=northwind.onmicrosoft.com"])
    func registration(query: String) async throws {
        let document = try await mock.get("/_mock/registration\(query)").json()
        let tenant = try #require(document["tenant"]?.object)
        let tenants = (document["tenants"]?.array ?? []).compactMap(\.object)
        #expect(tenants.count == 4 && tenants.filter { $0["isShown"] == true } == [tenant])
        #expect((document["clients"]?.array ?? []).contains { $0.object?["secret"]?.string == "mock-secret" })
        #expect(document["resources"]?.array?.first?.object?["scopes"]?.array?.count == 2)
        let policies = document["policies"]?.array ?? []
        #expect(policies.count == (query.isEmpty ? Policy.defaults.count : 0))
        let places = (policies + [.object(tenant)]).compactMap { $0.object?["metadata"]?.string }
        #expect(!places.isEmpty)
        for place in places { #expect(try await mock.get(place).json()["jwks_uri"] != nil, "\(place)") }
    }

    @Test func `Client settings are those of the program, for the address of the request`() async throws {
        let mock = TestAuthority { $0.clientSettings = { [(kind: "curl", text: "curl \($0)")] } }
        let document = try await mock.ask(.get, "/_mock/registration", host: "localhost:3005")
        #expect(
            try document.json()["clientSettings"]
                == [["kind": "curl", "text": "curl http://localhost:3005"]])
    }

    @Test func `The root leads browsers to the page, and says nothing of users and requests to others`() async throws {
        let response = try await mock.ask(.get, "/", headers: ["Accept": "text/html,*/*"], peer: "192.0.2.7")
        #expect(response.status == 200 && response.text.contains("href=\"/_mock\""))
        #expect(!response.text.contains("alice"))
    }
}
