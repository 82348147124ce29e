import HTTP
@testable import MockAuthority
import Support
import Testing

@Suite("The controls answer programs of this machine, and no page of another site")
struct ControlAccessTests {
    let mock = TestAuthority()

    private func rotation(_ headers: HeaderFields, host: String = "127.0.0.1:3001") async throws -> Response {
        try await mock.ask(.post, "/_mock/keys", body: #"{"do":"publish"}"#, headers: headers, host: host)
    }

    @Test(
        arguments: [
            ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1:3000"],
            ["Origin": "https://127.0.0.1:3001"], ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"],
            ["Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"],
        ] as [HeaderFields])
    func `What a browser sends for a page of another site changes nothing`(headers: HeaderFields) async throws {
        let before = try await mock.keySet()
        #expect(try await rotation(headers).status == 403)
        #expect(try await mock.ask(.post, "/_mock/reset", headers: headers, host: "127.0.0.1:3001").status == 403)
        #expect(try await mock.keySet() == before)
    }

    @Test(
        arguments: [
            [:], ["Origin": "http://127.0.0.1:3001", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate"],
            ["Sec-Fetch-Site": "none"],
        ] as [HeaderFields])
    func `The page itself and programs may change things`(headers: HeaderFields) async throws {
        #expect(try await rotation(headers).status == 200)
    }

    @Test func `A page of another site may link to the page, but not read a token`() async throws {
        let link: HeaderFields = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
        #expect(try await mock.get("/_mock", link).status == 200)
        let picture: HeaderFields = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"]
        #expect(try await mock.get("/_mock/token?user=alice", picture).status == 403)
        #expect(try await mock.get("/_mock/token?user=alice", ["Origin": "http://evil.example"]).status == 403)
    }

    @Test(arguments: [
        "evil.example:3001", "127.0.0.1.evil.example", "localhost.evil.example:3001", "evil.test.example", "a b",
    ])
    func `A name that leads here but that others can have is refused (DNS rebinding)`(host: String) async throws {
        let origin: HeaderFields = ["Origin": "http://\(host)"]
        #expect(try await rotation(origin, host: host).status == 403)
        #expect(try await mock.ask(.get, "/_mock/token?user=alice", host: host).status == 403)
        let open = TestAuthority { $0.behaviour.remoteControl = true }
        #expect(try await open.ask(.get, "/_mock", host: host).status == 403)
    }

    @Test func `Under a name that others can have there is no sign-in either (DNS rebinding)`() async throws {
        let tenant = "/contoso.onmicrosoft.com"
        for target in [
            "/", "\(tenant)/b2c_1_sign_in/v2.0/.well-known/openid-configuration",
            "\(tenant)/b2c_1_sign_in/oauth2/v2.0/authorize?\(CodeFlowTests.query)",
        ] {
            let response = try await mock.ask(.get, target, host: "evil.example:3001")
            #expect(response.status == 403 && response.text.contains("--tls-name"), "\(target)")
            #expect(try await mock.ask(.get, target, peer: "192.0.2.7", host: "192.0.2.1:3001").status == 200)
        }
        let form = "\(PasswordGrantTests.form)&scope=openid"
        let token = "\(tenant)/b2c_1_ropc/oauth2/v2.0/token"
        #expect(try await mock.ask(.post, token, body: form, host: "evil.example:3001").status == 403)
        #expect(try await mock.ask(.post, token, body: form, host: "localhost:3001").status == 200)
    }

    @Test(arguments: [
        "127.0.0.1:3001", "[::1]:3001", "localhost:3001", "tasks.localhost", "mock-authority:3001", "192.0.2.7",
        "mock.example:8443", "issuer.example", "login.microsoftonline.com", "contoso.ciamlogin.com",
    ])
    func `Addresses, names of this machine and those of the configuration are answered`(host: String) async throws {
        var configuration = Configuration.standard(issuerBase: "https://issuer.example")
        configuration.moreHostNames = ["mock.example"]
        let mock = TestAuthority(configuration)
        #expect(try await mock.ask(.get, "/_mock/users", host: host).status == 200)
    }

    @Test func `Another machine is answered only where that was allowed`() async throws {
        for path in ["/_mock", "/_mock/page.js", "/_mock/live", "/_mock/registration", "/_mock/state"] {
            #expect(try await mock.ask(.get, path, peer: "192.0.2.7").status == 403, "\(path)")
        }
        #expect(try await mock.ask(.get, "/", peer: "192.0.2.7").status == 200)
        #expect(try await mock.ask(.get, "/_mock/state", peer: "::1").status == 200)
        let open = TestAuthority { $0.behaviour.remoteControl = true }
        #expect(try await open.ask(.get, "/_mock/state", peer: "192.0.2.7").status == 200)
    }
}
