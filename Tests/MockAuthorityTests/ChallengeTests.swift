import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Claims challenges and continuous access evaluation")
struct ChallengeTests {
    private static let password =
        "grant_type=password&client_id={client}&username={alice}&password=Passw0rd!"
        + "&scope=openid+profile+offline_access+{scope}"
    private static let refresh =
        "grant_type=refresh_token&client_id={client}&refresh_token={refresh}&scope={scope}&claims="
    private static let daemon =
        "grant_type=client_credentials&client_id={daemon}&client_secret=mock-secret&scope={api}/.default&claims="

    private static func claims(_ text: String) -> String { "{\"access_token\":\(text)}".percentEncoded }

    @Test("A client that understands challenges gets a long token that says so", arguments: ["cp1", "CP1"])
    func capability(name: String) async throws {
        let exchange = SDKExchange(.entra) { _ in }
        let claims = Self.claims(#"{"xms_cc":{"values":["\#(name)"]}}"#)
        try await exchange.signIn()
        for form in [Self.password + "&claims=", Self.refresh, Self.daemon] {
            let token = try await exchange.send(form + claims).json().token("access_token").claims
            #expect(token["xms_cc"] == [.string(name)])
            let lifetime = (token["exp"]?.integer ?? 0) - (token["iat"]?.integer ?? 0)
            #expect((20 * 3600...28 * 3600).contains(lifetime), "\(form)")
            let without = try await exchange.send(form + Self.claims("{}")).json()
            let plain = try without.token("access_token").claims
            #expect(plain["xms_cc"] == nil && without["expires_in"]?.integer ?? 0 < 5700)
        }
    }

    @Test func `A context of the sign-in comes in the token that asked for it, and in those of its code`() async throws
    {
        let exchange = SDKExchange(.externalID) { _ in }
        let claims = Self.claims(#"{"acrs":{"essential":true,"value":"c1"}}"#)
        try await exchange.authorize("&claims=\(claims)")
        let redeem =
            "grant_type=authorization_code&client_id={client}&code={code}&redirect_uri=http://localhost"
            + "&code_verifier={verifier}&scope=openid+offline_access+{scope}"
        let reply = try await exchange.send(redeem).json()
        #expect(try reply.token("access_token").claims["acrs"] == ["c1"])
        exchange.set("refresh", reply.text("refresh_token"))
        let other = Self.claims(#"{"acrs":{"values":["c2","c3"]}}"#)
        let renewed = try await exchange.send(Self.refresh + other).json().token("access_token").claims
        #expect(renewed["acrs"] == ["c2", "c3"])
    }

    @Test(
        "The next token request of a user fails as the control says, and the one after is good",
        arguments: [
            (#"{"user":"alice"}"#, 50076, "basic_action"),
            (#"{"user":"alice","error":"53003"}"#, 53003, "message_only"),
            (
                #"{"user":"alice","suberror":"consent_required","claims":{"access_token":{"acrs":{"value":"c1"}}}}"#,
                50076,
                "consent_required"
            ),
        ])
    func conditionalAccess(body: String, number: Int64, suberror: String) async throws {
        let exchange = SDKExchange(.entra) { _ in }
        try await exchange.signIn()
        try await exchange.control("challenge", body)
        #expect(try await exchange.send(Self.daemon).status == 200)
        let answer = try await exchange.send(Self.refresh)
        let refused = try answer.json()
        #expect(answer.status == 400 && refused["error"] == "interaction_required")
        #expect(refused["error_codes"] == [.integer(number)] && refused["suberror"] == .string(suberror))
        let asked = try JSONValue(parsing: Array(refused.text("claims").utf8))
        let isGiven = body.contains("claims")
        #expect(asked["access_token"]["capolids"]["values"].array?.count == (isGiven ? nil : 1))
        #expect(asked["access_token"]["acrs"]["value"].string == (isGiven ? "c1" : nil))
        #expect(try await exchange.send(Self.refresh).status == 200)
    }
}
