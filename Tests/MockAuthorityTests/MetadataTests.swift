import HTTP
import JSON
@testable import MockAuthority
import Support
import Testing

@Suite("Metadata and keys are like those of the service")
struct MetadataTests {
    let mock = TestAuthority()
    static let document = "v2.0/.well-known/openid-configuration"

    @Test(
        "A page may read responses if its origin is that of a redirect URI, on the loopback with every name and port",
        arguments: [
            ("http://localhost:3000", true), ("http://127.0.0.1:41234", true), ("http://[::1]:3000", true),
            ("http://127.0.0.1.example.com", false), ("https://localhost:3000", false), ("null", false),
        ])
    func origins(origin: String, allowed: Bool) async throws {
        let target = "/contoso.onmicrosoft.com/b2c_1_sign_in/oauth2/v2.0/token"
        let response = try await mock.ask(.options, target, headers: ["Origin": origin])
        #expect(response.headers["Access-Control-Allow-Origin"] == (allowed ? origin : nil))
        #expect(try await mock.ask(.options, target).headers.values("Vary") == ["Origin"])
    }

    @Test func `The metadata have the members of the service in its order, and no others`() async throws {
        let response = try await mock.get("/contoso.onmicrosoft.com/b2c_1_sign_in/\(Self.document)")
        #expect(response.status == 200)
        let front = "http://mock.test:3001/contoso.onmicrosoft.com/b2c_1_sign_in"
        let expected =
            #"{"issuer":"http://127.0.0.1:3001/775527ff-9a37-4307-8b3d-cc311f58d925/v2.0/","#
            + #""authorization_endpoint":"\#(front)/oauth2/v2.0/authorize","#
            + #""token_endpoint":"\#(front)/oauth2/v2.0/token","#
            + #""end_session_endpoint":"\#(front)/oauth2/v2.0/logout","#
            + #""jwks_uri":"\#(front)/discovery/v2.0/keys","#
            + #""response_modes_supported":["query","fragment","form_post"],"#
            + #""response_types_supported":["code","code id_token","code token","code id_token token","id_token","#
            + #""id_token token","token","token id_token"],"scopes_supported":["openid"],"#
            + #""subject_types_supported":["pairwise"],"id_token_signing_alg_values_supported":["RS256"],"#
            + #""token_endpoint_auth_methods_supported":["client_secret_post","client_secret_basic"],"#
            + #""claims_supported":["name","given_name","family_name","emails","idp","oid","sub","tfp","iss","iat","#
            + #""exp","aud","acr","nonce","auth_time"]}"#
        #expect(response.text == expected)
    }

    @Test(
        "Endpoints have the form of the requested URL",
        arguments: [
            ("/contoso.onmicrosoft.com/B2C_1_Sign_In/", "", "contoso.onmicrosoft.com/b2c_1_sign_in/", ""),
            ("/contoso.onmicrosoft.com/", "?p=B2C_1_SIGN_IN", "contoso.onmicrosoft.com/", "?p=b2c_1_sign_in"),
            ("/tfp/contoso.onmicrosoft.com/b2c_1_sign_in/", "", "tfp/contoso.onmicrosoft.com/b2c_1_sign_in/", ""),
            ("/te/Contoso.onmicrosoft.com/b2c_1_sign_in/", "", "te/Contoso.onmicrosoft.com/b2c_1_sign_in/", ""),
            (
                "/775527FF-9a37-4307-8b3d-cc311f58d925/b2c_1_sign_in/", "",
                "775527FF-9a37-4307-8b3d-cc311f58d925/b2c_1_sign_in/", ""
            ),
        ])
    func forms(asked: String, query: String, front: String, tail: String) async throws {
        let metadata = try await mock.get("\(asked)\(Self.document)\(query)").json()
        let uri = "http://mock.test:3001/\(front)discovery/v2.0/keys\(tail)"
        #expect(metadata["jwks_uri"]?.string == uri)
        let keys = try await mock.get(String(uri.dropFirst("http://mock.test:3001".utf8.count)))
        #expect(keys.status == 200)
    }

    @Test func `A policy of issuer mode tfp serves its metadata below its issuer`() async throws {
        let mock = TestAuthority {
            $0.policies = [Policy("B2C_1_susi", kind: .signUpOrSignIn, issuer: .tfp)]
            $0.issuerBase = "http://mock.test:3001"
        }
        let issuer = "/tfp/775527ff-9a37-4307-8b3d-cc311f58d925/b2c_1_susi/v2.0/"
        let metadata = try await mock.get("\(issuer).well-known/openid-configuration").json()
        #expect(metadata["issuer"]?.string == "http://mock.test:3001\(issuer)")
    }

    @Test(arguments: [
        "/contoso.onmicrosoft.com/b2c_1_other/v2.0/.well-known/openid-configuration",
        "/other.onmicrosoft.com/b2c_1_sign_in/v2.0/.well-known/openid-configuration",
        "/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration",
        "/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration?p=%3Cscript%3E",
    ])
    func `An unknown tenant or policy is a 404 with the code of the service`(target: String) async throws {
        let response = try await mock.get(target)
        #expect(response.status == 404)
        #expect(response.text.contains("AADB2C90022"))
        #expect(!response.text.contains("<script>"))
    }

    @Test func `Keys have exactly the members of the service`() async throws {
        let set = try await mock.get("/contoso.onmicrosoft.com/b2c_1_sign_in/discovery/v2.0/keys").json()
        #expect(set.names == ["keys"])
        let keys = set["keys"]?.array ?? []
        #expect(keys.count == 1)
        let key = try #require(keys.first?.object)
        #expect(key.names == ["kid", "nbf", "use", "kty", "e", "n"])
        #expect(key["nbf"]?.integer == TestAuthority.now)
        #expect(key["use"]?.string == "sig" && key["kty"]?.string == "RSA" && key["e"]?.string == "AQAB")
        #expect(Token.decode(key.text("n")).count == 256)
    }
}
