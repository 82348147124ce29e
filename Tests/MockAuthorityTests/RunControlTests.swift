import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Tests inject failures, each in its own test run")
struct RunControlTests {
    let mock = TestAuthority()
    static let keys = "/contoso.onmicrosoft.com/b2c_1_sign_in/discovery/v2.0/keys"
    static let metadata = "/contoso.onmicrosoft.com/b2c_1_sign_in/v2.0/.well-known/openid-configuration"

    private func control(_ path: String, _ body: String) async throws -> Response {
        try await mock.ask(.post, "/_mock/\(path)", body: body)
    }

    @Test("A fault affects as many requests as it says, with status, body and Retry-After, unless it is taken away")
    func faults() async throws {
        let added = try await control(
            "faults", #"{"at":"keys","times":2,"status":503,"retry_after":7,"body":"<html>busy"}"#)
        #expect(added.status == 200)
        for _ in 0..<2 {
            let response = try await mock.get(Self.keys)
            #expect(response.status == 503 && response.text == "<html>busy")
            #expect(response.headers["Retry-After"] == "7")
            #expect(response.headers["Access-Control-Allow-Origin"] == "*")
        }
        #expect(try await mock.get(Self.keys).status == 200)
        #expect(try await mock.get(Self.metadata).status == 200)
        _ = try await control("faults", #"{"at":"keys","times":9,"status":503}"#)
        #expect(try await mock.ask(.delete, "/_mock/faults").json()["faults"] == [])
        #expect(try await mock.get(Self.keys).status == 200)
    }

    @Test("A page can read that it is throttled, and for how long; the preflight before its request uses up no fault")
    func throttling() async throws {
        _ = try await control("faults", #"{"at":"token","times":2,"status":429,"retry_after":7}"#)
        let target = "/contoso.onmicrosoft.com/b2c_1_ropc/oauth2/v2.0/token"
        #expect(try await mock.ask(.options, target, headers: ["Origin": "http://localhost:3000"]).status == 204)
        let form = "\(PasswordGrantTests.form)&scope=openid"
        let throttled = try await mock.token(form, headers: ["Origin": "http://localhost:3000"])
        #expect(throttled.status == 429 && throttled.headers["Retry-After"] == "7")
        #expect(throttled.headers["Access-Control-Allow-Origin"] == "http://localhost:3000")
        #expect(throttled.headers["Access-Control-Expose-Headers"] == "Retry-After")
        let stranger = try await mock.token(form, headers: ["Origin": "https://other.example"])
        #expect(stranger.status == 429 && stranger.headers["Access-Control-Allow-Origin"] == nil)
    }

    @Test(
        "A rotation of a run concerns the run's tenant alone, and a reset keeps the run's keys",
        arguments: ["b2c", "entra"])
    func keysOfRun(profile: String) async throws {
        let mock = TestAuthority.all()
        func kids(_ query: String = "") async throws -> [String] {
            let state = try await mock.get("/_mock/keys?profile=\(profile)\(query)").json()
            return state["keys"]?.array?.compactMap { $0.object?["kid"]?.string } ?? []
        }
        func token(_ query: String = "") async throws -> Token {
            try await mock.issue("user=alice&profile=\(profile)\(query)")
        }
        let before = try await kids()
        _ = try await mock.ask(.post, "/_mock/reset?run=r7&profile=\(profile)")
        #expect(try await kids("&run=r7") == before)
        _ = try await mock.ask(.post, "/_mock/keys?run=r7&profile=\(profile)", body: #"{"do":"rotate"}"#)
        _ = try await mock.ask(.post, "/_mock/reset?run=r7&profile=\(profile)")
        let own = try await kids("&run=r7")
        #expect(own.count == before.count + 1 && !before.contains(own[0]))
        #expect(try await kids() == before)
        #expect(try await token("&run=r7").header["kid"]?.string == own[0])
        #expect(try await token().header["kid"]?.string == before[0])
        #expect(try await token("&kid=\(own[0])&run=r7").header["kid"]?.string == own[0])
        let domain = profile == "b2c" ? "contoso.onmicrosoft.com/b2c_1_sign_in" : "fabrikam.onmicrosoft.com"
        func published(_ run: String) async throws -> [String] {
            let set = try await mock.document("/\(run)\(domain)/discovery/v2.0/keys")
            return set["keys"]?.array?.compactMap { $0.object?["kid"]?.string } ?? []
        }
        let (ofRun, ofOthers) = (try await published("r7."), try await published(""))
        #expect(ofRun.contains(own[0]) && !ofRun.contains(before[0]))
        #expect(ofOthers.contains(before[0]) && !ofOthers.contains(own[0]))
        // An ID token of the run's key is a hint at the run's sign-out.
        if profile == "b2c" {
            let hint = try await mock.text("user=alice&run=r7&scope=openid")
            let query = "id_token_hint=\(hint)&post_logout_redirect_uri=http://localhost"
            #expect(try await mock.get("/r7.\(domain)/oauth2/v2.0/logout?\(query)").status == 302)
        }
    }

    @Test func `A response can be delayed`() async throws {
        _ = try await control("faults", #"{"at":"metadata","delay_ms":50}"#)
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try await mock.get(Self.metadata).status == 200)
        #expect(clock.now - start >= .milliseconds(50))
    }

    @Test func `The clock of a test run can be wrong`() async throws {
        _ = try await control("clock", #"{"skew_s":-7200}"#)
        #expect(try await mock.issue("user=alice").claims["exp"]?.integer == TestAuthority.now - 3600)
        _ = try await mock.ask(.post, "/_mock/reset")
        #expect(try await mock.issue("user=alice").claims["exp"]?.integer == TestAuthority.now + 3600)
    }

    @Test func `Revoked grants, disabled and removed accounts are refused with their own codes`() async throws {
        let first = try await mock.refreshToken()
        #expect(try await mock.refresh(first).status == 200)
        _ = try await control("revoke", #"{"user":"alice"}"#)
        let revoked = try await mock.refresh(first)
        #expect(try revoked.json()["error"] == "invalid_grant" && revoked.code() == "90129")
        let second = try await mock.refreshToken()
        #expect(try await mock.ask(.put, "/_mock/users/alice", body: #"{"disabled":true}"#).status == 200)
        #expect(try await mock.refresh(second).code() == "90129")
        #expect(try await mock.token("\(PasswordGrantTests.form)&scope=openid").status == 400)
        #expect(try await mock.ask(.delete, "/_mock/users/alice").status == 204)
        #expect(try await mock.refresh(second).code() == "90128")
        #expect(try await mock.ask(.delete, "/_mock/users/alice").status == 404)
    }

    @Test func `Accounts can be added and changed at any time`() async throws {
        let made = try await mock.ask(
            .put, "/_mock/users/dora@example.com",
            body: #"{"password":"Passw0rd!","name":"Dora","claims":{"extension_level":3}}"#
        ).json()
        let oid = made["objectID"]?.string
        #expect(oid?.utf8.count == 36)
        let claims = try await mock.issue("user=dora").claims
        #expect(claims["oid"]?.string == oid && claims["extension_level"]?.integer == 3)
        _ = try await mock.ask(.put, "/_mock/users/dora", body: #"{"name":"Dora D"}"#)
        let users = try await mock.list("users")
        #expect(users.count == 3 && users[2]["name"]?.string == "Dora D")
        let taken = try await mock.ask(.put, "/_mock/users/dora", body: #"{"email":"bob@example.com"}"#)
        #expect(taken.status == 400)
    }

    @Test func `A user who is added cannot have the object id of another`() async throws {
        let bob = "b0b00000-0000-4000-8000-000000000002"
        let refused = try await mock.ask(.put, "/_mock/users/eve@example.com", body: #"{"objectID":"\#(bob)"}"#)
        #expect(refused.status == 400 && refused.text.contains("bob@example.com"))
        #expect(try await mock.get("/_mock/token?user=bob@example.com").status == 200)
        // The user's own is no mistake, and another one does not replace it.
        for objectID in [bob, "e0e00000-0000-4000-8000-000000000003"] {
            let body = #"{"objectID":"\#(objectID)"}"#
            let same = try await mock.ask(.put, "/_mock/users/bob", body: body).json()
            #expect(same["objectID"]?.string == bob)
        }
    }

    @Test func `The request log has the requests of clients, but not those to controls`() async throws {
        _ = try await mock.token("\(PasswordGrantTests.form)&scope=openid", headers: ["x-client-sku": "MSAL"])
        _ = try await mock.get("/_mock/state")
        let entries = try await mock.list("requests")
        #expect(entries.count == 1)
        let entry = try #require(entries.first)
        #expect(entry.names == ["at", "method", "target", "headers", "body", "status"])
        #expect(entry["body"]?.string?.hasPrefix("grant_type=password") == true)
        #expect(entry["headers"]?.array?.contains(["x-client-sku", "MSAL"]) == true)
    }

    @Test func `The tenant in the URL chooses a test run, which disturbs no other`() async throws {
        _ = try await mock.ask(.post, "/_mock/faults?run=r7", body: #"{"at":"keys","status":503}"#)
        _ = try await mock.ask(.delete, "/_mock/users/alice?run=r7")
        #expect(try await mock.get(Self.keys).status == 200)
        let target = "/r7.contoso.onmicrosoft.com/b2c_1_sign_in/discovery/v2.0/keys"
        #expect(try await mock.get(target).status == 503)
        #expect(try await mock.get(target).status == 200)
        #expect(try await mock.get("/_mock/token?user=alice").status == 200)
        #expect(try await mock.get("/_mock/token?user=alice&run=r7").status == 400)
        let requests = try JSONValue(parsing: try await mock.get("/_mock/requests?run=r7").body)
        #expect(requests.array?.count == 2)
        let state = try await mock.get("/_mock/state").json()
        #expect(state["runs"] == ["", "r7"])
        // The state names its run as it is called, whatever case was asked.
        #expect(try await mock.get("/_mock/state?run=R7").json()["run"] == "r7")
        let byID = "/R7.\(Tenant.contoso.id)/b2c_1_sign_in/discovery/v2.0/keys"
        #expect(try await mock.get(byID).status == 200)
    }

    @Test func `Only a control that changes something makes a run, which all tenants then have`() async throws {
        let mock = TestAuthority.all()
        let tenant = "contoso.onmicrosoft.com"
        let targets = [
            "/r7.\(tenant)/b2c_1_sign_in/v2.0/.well-known/openid-configuration",
            "/r7.\(tenant)/b2c_1_sign_in/oauth2/v2.0/authorize?\(CodeFlowTests.query)",
            "/_mock/token?user=alice&run=r7", "/_mock/state?run=r7", "/_mock?run=r7",
        ]
        for target in targets {
            let response = try await mock.get(target)
            #expect(response.status == 404 && response.text.contains("/_mock/reset?run="), "\(target)")
        }
        let form = "\(PasswordGrantTests.form)&scope=openid"
        let token = "/r7.\(tenant)/b2c_1_ropc/oauth2/v2.0/token"
        #expect(try await mock.ask(.post, token, body: form).status == 404)
        let elsewhere: HeaderFields = ["Origin": "http://evil.example"]
        #expect(try await mock.ask(.post, "/_mock/reset?run=r7", headers: elsewhere).status == 403)
        #expect(try await mock.get("/_mock/state").json()["runs"] == [""])
        #expect(try await mock.ask(.post, "/_mock/reset?run=r7").status == 200)
        for target in targets { #expect(try await mock.get(target).status == 200, "\(target)") }
        #expect(try await mock.ask(.post, token, body: form).status == 200)
        #expect(try await mock.get("/_mock/token?user=alice&run=r7&profile=external-id").status == 200)
        #expect(try await mock.get("/_mock/state?profile=entra").json()["runs"] == ["", "r7"])
    }

    @Test func `A full table of runs refuses a new one, and drops none`() async throws {
        for number in 0..<1000 {
            #expect(try await mock.ask(.post, "/_mock/clock?run=r\(number)", body: #"{"skew_s":60}"#).status == 200)
        }
        let refused = try await mock.ask(.post, "/_mock/clock?run=more", body: #"{"skew_s":60}"#)
        #expect(refused.status == 503 && refused.text.contains("1000 test runs"), "\(refused.text)")
        for number in stride(from: 0, to: 1000, by: isSanitized ? 37 : 1) {
            #expect(try await mock.get("/_mock/state?run=r\(number)").json()["skew_s"] == 60)
        }
        #expect(try await mock.ask(.post, "/_mock/reset?run=r1").status == 200)
    }

    @Test(arguments: [
        ("faults", "{}"), ("faults", #"{"at":"moon"}"#), ("faults", #"{"at":"keys","status":7}"#),
        ("faults", #"{"at":"keys","stauts":503}"#), ("clock", #"{"skew_s":"1h"}"#), ("clock", "1"),
        ("revoke", #"{"user":"nobody"}"#), ("revoke", ""), ("keys", "{}"), ("keys", #"{"do":"dance"}"#),
        ("keys", "rotate"),
        // Each of these numbers overflowed and ended the process once, or is not the status of a final answer.
        ("clock", #"{"skew_s":-9223372036854775808}"#), ("faults", #"{"at":"keys","status":100}"#),
        ("faults", #"{"at":"keys","status":503,"times":-9223372036854775808}"#),
    ])
    func `A wrong body of a control is refused with the reason`(path: String, body: String) async throws {
        let response = try await control(path, body)
        #expect(response.status == 400 && response.text.utf8.count > 20)
    }
}
