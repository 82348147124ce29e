import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Every URL that the authority names is in its route table")
struct RouteTests {
    let mock = TestAuthority()
    static let policy = "/contoso.onmicrosoft.com/b2c_1_sign_in"
    static let base = "http://mock.test:3001"

    /// The path of the row for a request, `nil` if there is none.
    private func row(_ method: Method, _ url: String) throws -> String? {
        guard url.hasPrefix("\(Self.base)/") || url.hasPrefix("/") else { return nil }
        let text = url.hasPrefix("/") ? url : String(url.dropFirst(Self.base.utf8.count))
        let target = try RequestTarget(parsing: text)
        if let route = (Routes.ofHost + Routes.controls + Routes.ofDeveloperPage).first(where: {
            $0.matches(target.path) && $0.allows(method)
        }) {
            return route.path
        }
        guard let (_, rest) = EndpointURL.ofPolicy(target) else { return nil }
        return Routes.ofPolicies.first { $0.matches(rest) && $0.allows(method) }?.path
    }

    @Test
    func `The forms and links of the pages are rows, as is what the scripts of the real page request`() async throws {
        let query = "client_id=\(TestAuthority.clientID)&response_type=code&scope=openid"
        var configuration = Configuration()
        configuration.policies.append(Policy("b2c_1_susi", kind: .signUpOrSignIn))
        let mock = TestAuthority(configuration)
        var links = 0
        for policy in configuration.policies {
            let front = "/contoso.onmicrosoft.com/\(policy.name)"
            let page = try await mock.get("\(front)/oauth2/v2.0/authorize?\(query)").text
            for url in page.values(after: "action=\"", before: "\"") {
                #expect(try row(.post, url.unescaped) == "signin", "\(policy.name)")
                links += 1
            }
            for url in page.values(after: "href=\"", before: "\"") {
                #expect(try row(.get, url.unescaped) == "signin", "\(policy.name)")
                links += 1
            }
            let api = try #require(page.between("\"api\":\"", "\""))
            #expect(try row(.post, "\(front)/SelfAsserted?tx=1") == "SelfAsserted")
            #expect(try row(.get, "\(front)/api/\(api)/confirmed?tx=1") == "api/{api}/confirmed")
        }
        #expect(links == configuration.policies.count + 1)
    }

    @Test func `The URLs of the welcome text and of the text about unknown controls are rows`() async throws {
        let welcome = try await mock.get("/").text
        let urls = welcome.values(after: Self.base, before: "\n").map { $0.prefix { $0 != "'" } }
        #expect(urls.count == 10)
        for url in urls { #expect(try row(url == "/_mock/keys" ? .post : .get, String(url)) != nil, "\(url)") }
        let lines = try await mock.get("/_mock/nothing").text.split(separator: "\n").dropFirst().map {
            $0.split(separator: " ")
        }
        #expect(lines.count == Routes.controls.count)
        for line in lines { #expect(try row(Method(String(line[0])), String(line[1])) != nil, "\(line)") }
    }

    @Test func `Each row is answered, and by no other row for the same method`() async throws {
        for route in Routes.ofPolicies {
            let path = route.path.split(separator: "/").map { $0.hasPrefix("{") ? "x" : String($0) }
            #expect(Routes.ofPolicies.filter { $0.matches(path) }.count == 1, "\(route.path)")
            #expect(try await mock.ask(.options, "\(Self.policy)/\(path.joined(separator: "/"))").status == 204)
        }
        try await expectAnswers(of: Routes.controls + Routes.ofDeveloperPage, below: "", by: mock)
        try await expectAnswers(of: Routes.ofEntra, below: "/\(EntraTenants.id)", by: .all())
    }

    private func expectAnswers<Context>(
        of routes: [AuthorityRoute<Context>], below front: String, by mock: TestAuthority
    ) async throws {
        for route in routes {
            let path = route.path.split(separator: "/").map { $0.hasPrefix("{") ? "alice" : String($0) }
            let same = routes.filter {
                $0.matches(path) && ($0.methods.isEmpty || route.methods.contains(where: $0.allows))
            }
            #expect(same.count == 1, "\(route.path)")
            for method in route.methods {
                let target = "\(front)/\(path.joined(separator: "/"))"
                let response = try await mock.ask(method, target, body: "{}")
                #expect(![404, 405].contains(response.status), "\(method) \(route.path)")
            }
        }
    }

    @Test func `Every endpoint of a fault is a row, of B2C and of Entra`() {
        #expect(Set(Routes.ofPolicies.compactMap(\.fault)) == Set(Fault.Endpoint.allCases))
        #expect(Set(Routes.ofEntra.compactMap(\.fault)) == Set(Fault.Endpoint.allCases))
    }

    @Test func `A page of any origin can read why an address or a compressed body is refused`() async throws {
        let compressed = try await mock.ask(
            .post, "\(Self.policy)/oauth2/v2.0/token", body: "x", headers: ["Content-Encoding": "gzip"])
        #expect(compressed.status == 415 && compressed.text.hasPrefix("The mock reads no compressed bodies"))
        let plain = try await mock.ask(
            .post, "\(Self.policy)/oauth2/v2.0/token", body: "x", headers: ["Content-Encoding": "identity"])
        #expect(plain.status == 400)
        let unknown = [
            "/contoso.onmicrosoft.com/b2c_1_none", "/nobody.test/b2c_1_sign_in",
            "/r9.contoso.onmicrosoft.com/b2c_1_sign_in",
        ]
        var refusals = [compressed]
        for front in unknown { refusals.append(try await mock.get("\(front)/v2.0/.well-known/openid-configuration")) }
        #expect(refusals.dropFirst().allSatisfy { $0.status == 404 })
        #expect(refusals.allSatisfy { $0.headers["Access-Control-Allow-Origin"] == "*" })
    }

    @Test("An unknown control is refused with 404, and a method that a row does not have with those that it has")
    func refusals() async throws {
        let unknown = try await mock.ask(.put, "/_mock/nothing")
        #expect(unknown.status == 404 && unknown.text.hasPrefix("No such control."))
        for (method, target, allowed) in [
            (Method.get, "/_mock/users/bob", "PUT, DELETE"), (.get, "/_mock/reset", "POST"),
            (.put, "/_mock/users", "GET"), (.post, "/_mock/users", "GET"), (.delete, "/_mock/keys", "GET, POST, PUT"),
            (.options, "/_mock/state", "GET"), (.delete, "\(Self.policy)/oauth2/v2.0/token", "POST"),
            (.delete, "\(Self.policy)/oauth2/v2.0/authorize", "GET, POST"),
            (.delete, "\(Self.policy)/discovery/v2.0/keys", "GET"),
            (.delete, "\(Self.policy)/v2.0/.well-known/openid-configuration", "GET"),
            (.delete, "\(Self.policy)/signin", "GET, POST"), (.delete, "\(Self.policy)/SelfAsserted", "POST"),
        ] {
            let response = try await mock.ask(method, target)
            #expect(response.status == 405 && response.headers["Allow"] == allowed, "\(target)")
        }
    }
}

extension String {
    /// Every text between two marks.
    fileprivate func values(after start: String, before end: String) -> [String] {
        split(separator: start, omittingEmptySubsequences: false).dropFirst().compactMap { rest in
            rest.split(separator: end, omittingEmptySubsequences: false).first.map(String.init)
        }
    }
}
