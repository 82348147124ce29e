import Basics
import HTTP
import JSON
@testable import MockAuthority
import OpenSSL
import Support
import Testing

@Suite("Metadata and keys of External ID and Entra are like those of the services")
struct EntraMetadataTests {
    let mock = TestAuthority.all()
    static let id = EntraTenants.id
    static let document = EntraTenants.document

    /// What MSAL and people ask for, and the host that answers.
    static let forms: [(host: String, segment: String)] = [
        ("contoso.ciamlogin.com", "contoso.onmicrosoft.com"), ("contoso.ciamlogin.com:8443", "Contoso.OnMicrosoft.com"),
        ("contoso.ciamlogin.com", id), ("contoso.ciamlogin.com", "contoso"), ("\(id).ciamlogin.com", id),
        ("localhost:3001", id), ("localhost:3001", "contoso"), ("login.contoso.com", id),
    ]

    @Test(
        "P-37: By every form of the address the document has the members of the service in its order, and names the id",
        arguments: forms)
    func document(host: String, segment: String) async throws {
        let response = try await mock.ask(.get, "/\(segment)/\(Self.document)", host: host)
        #expect(response.status == 200)
        #expect(response.headers["Cache-Control"] == "max-age=86400, private")
        #expect(response.headers["Access-Control-Allow-Origin"] == "*")
        let front = "http://\(host)/\(Self.id)"
        let expected =
            #"{"token_endpoint":"\#(front)/oauth2/v2.0/token","#
            + #""token_endpoint_auth_methods_supported":["client_secret_post","private_key_jwt","#
            + #""client_secret_basic","self_signed_tls_client_auth"],"#
            + #""jwks_uri":"\#(front)/discovery/v2.0/keys","#
            + #""response_modes_supported":["query","fragment","form_post"],"subject_types_supported":["pairwise"],"#
            + #""id_token_signing_alg_values_supported":["RS256"],"#
            + #""response_types_supported":["code","id_token","code id_token","id_token token"],"#
            + #""scopes_supported":["openid","profile","email","offline_access"],"#
            + #""issuer":"\#(EntraTenants.issuer)","request_uri_parameter_supported":false,"#
            + #""userinfo_endpoint":"\#(front)/oidc/userinfo","#
            + #""authorization_endpoint":"\#(front)/oauth2/v2.0/authorize","#
            + #""device_authorization_endpoint":"\#(front)/oauth2/v2.0/devicecode","#
            + #""http_logout_supported":true,"frontchannel_logout_supported":true,"#
            + #""end_session_endpoint":"\#(front)/oauth2/v2.0/logout","#
            + #""claims_supported":["sub","iss","cloud_instance_name","cloud_instance_host_name","#
            + #""cloud_graph_host_name","msgraph_host","aud","exp","iat","auth_time","acr","nonce","#
            + #""preferred_username","name","tid","ver","at_hash","c_hash","email"],"#
            + #""kerberos_endpoint":"\#(front)/kerberos","#
            + #""mtls_endpoint_aliases":{"token_endpoint":"\#(front)/oauth2/v2.0/token"},"#
            + #""tls_client_certificate_bound_access_tokens":true,"tenant_region_scope":"NA","#
            + #""cloud_instance_name":"microsoftonline.com","cloud_graph_host_name":"graph.windows.net","#
            + #""msgraph_host":"graph.microsoft.com","rbac_url":"https://pas.windows.net"}"#
        #expect(response.text == expected)
    }

    @Test(
        "P-36: One process answers for B2C, External ID and Entra, each with its own issuer and keys",
        arguments: [
            "/contoso.onmicrosoft.com/b2c_1_sign_in/":
                "http://127.0.0.1:3001/775527ff-9a37-4307-8b3d-cc311f58d925/v2.0/",
            "/contoso.onmicrosoft.com/": "http://127.0.0.1:3001/775527ff-9a37-4307-8b3d-cc311f58d925/v2.0/",
            "/\(id)/": EntraTenants.issuer,
            "/fabrikam.onmicrosoft.com/": "https://login.microsoftonline.com/\(EntraTenants.fabrikam.tenant.id)/v2.0",
            "/\(EntraTenants.northwind.tenant.id)/":
                "https://login.microsoftonline.com/\(EntraTenants.northwind.tenant.id)/v2.0",
            "/common/": "https://login.microsoftonline.com/{tenantid}/v2.0",
            "/organizations/": "https://login.microsoftonline.com/{tenantid}/v2.0",
            "/consumers/": "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
        ])
    func services(front: String, issuer: String) async throws {
        let query = front == "/contoso.onmicrosoft.com/" ? "?p=b2c_1_sign_in" : ""
        let metadata = try await mock.document("\(front)\(Self.document)\(query)")
        #expect(metadata["issuer"]?.string == issuer)
        let uri = try #require(metadata["jwks_uri"]?.string)
        let keys = try await mock.keys(at: String(uri.dropFirst("http://mock.test:3001".utf8.count)))
        #expect(!keys.isEmpty)
        let isB2C = !query.isEmpty || front.contains("b2c_")
        let b2c = try await mock.publicKeys()
        #expect(Set(keys.keys).isDisjoint(with: b2c.keys) != isB2C)
    }

    @Test("P-36: The host decides where a path does not: a domain that B2C has too, and External ID at the login host")
    func hosts() async throws {
        let target = "/contoso.onmicrosoft.com/\(Self.document)"
        #expect(try await mock.ask(.get, target).status == 404)
        #expect(try await mock.ask(.get, target, host: "contoso.b2clogin.com").status == 404)
        let policy = try await mock.document(target + "?p=b2c_1_sign_in", at: "login.microsoftonline.com")
        #expect(policy["issuer"]?.string?.hasSuffix("/v2.0/") == true)
        let login = try await mock.document("/\(Self.id)/\(Self.document)", at: "login.microsoftonline.com")
        #expect(login["issuer"]?.string == "https://login.microsoftonline.com/\(Self.id)/v2.0")
        #expect(try await mock.ask(.get, "/\(Self.id)/\(Self.document)", host: "fabrikam.ciamlogin.com").status == 400)
        #expect(try await mock.ask(.get, "/common/\(Self.document)", host: "contoso.ciamlogin.com").status == 400)
    }

    @Test("P-37: Keys have the members of the service; the names of a key are the hash of its certificate")
    func keys() async throws {
        let response = try await mock.get("/\(Self.id)/discovery/v2.0/keys")
        #expect(response.headers["Cache-Control"] == "max-age=86400, private")
        let keys = try response.json()["keys"]?.array?.compactMap(\.object) ?? []
        #expect(keys.count == 2)
        for key in keys {
            #expect(key.names == ["kty", "use", "kid", "x5t", "n", "e", "x5c", "cloud_instance_name", "issuer"])
            #expect(key["issuer"]?.string == EntraTenants.issuer)
            #expect(key["cloud_instance_name"] == "microsoftonline.com" && key["kid"] == key["x5t"])
            let certificate = try #require(Base64.decodeLenient(key["x5c"]?.array?.first?.string ?? ""))
            #expect(key["kid"]?.string == Base64URL.encode(SHA1.digest(certificate)))
            #expect(key["kid"]?.string?.utf8.count == 27)
            let modulus = Token.decode(key.text("n"))
            #expect(modulus.count == 256 && certificate.split(separator: modulus, maxSplits: 1).count == 2)
        }
    }

    @Test("P-37: The keys of common are for any tenant, and for personal accounts; those of version 1 name no issuer")
    func templates() async throws {
        func issuers(_ target: String) async throws -> [String?] {
            try await mock.document(target)["keys"]?.array?.map { $0.object?["issuer"]?.string } ?? []
        }
        let (template, personal) = (
            "https://login.microsoftonline.com/{tenantid}/v2.0",
            "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"
        )
        #expect(try await issuers("/common/discovery/v2.0/keys") == [template, template, personal, personal])
        #expect(try await issuers("/organizations/discovery/v2.0/keys") == [template, template])
        #expect(try await issuers("/consumers/discovery/v2.0/keys") == [personal, personal])
        #expect(try await issuers("/\(Self.id)/discovery/keys") == [nil, nil])
        let old = try await mock.document("/\(Self.id)/.well-known/openid-configuration")
        #expect(old["issuer"]?.string == "https://sts.windows.net/\(Self.id)/")
        #expect(old["jwks_uri"]?.string == "http://mock.test:3001/\(Self.id)/discovery/keys")
    }

    @Test("P-37: An unknown tenant is error 90002 at the hosts of the services, as is the other service's")
    func unknownTenant() async throws {
        for host in ["other.ciamlogin.com", "login.microsoftonline.com"] {
            let response = try await mock.ask(.get, "/other.onmicrosoft.com/\(Self.document)", host: host)
            #expect(response.status == 400)
            let error = try response.json()
            #expect(error["error_codes"] == [90002] && error["error"] == "invalid_request")
            #expect(error["error_description"]?.string?.hasPrefix("AADSTS90002: ") == true)
        }
    }

    @Test func `Issuers can follow the host of each request`() async throws {
        let mock = TestAuthority.all { $0.issuerHost = .request }
        let document = try await mock.document("/\(Self.id)/\(Self.document)", at: "localhost:3001")
        #expect(document["issuer"]?.string == "http://localhost:3001/\(Self.id)/v2.0")
        let token = try await mock.issue("user=alice&profile=external-id")
        #expect(token.claims["iss"]?.string == "http://mock.test:3001/\(Self.id)/v2.0")
        let keys = try await mock.document("/common/discovery/v2.0/keys")["keys"]?.array ?? []
        #expect(keys.first?.object?["issuer"]?.string == "http://mock.test:3001/{tenantid}/v2.0")
    }

    @Test func `A run of tests has its own URLs`() async throws {
        _ = try await mock.ask(.post, "/_mock/reset?run=r7")
        let document = try await mock.document(
            "/r7.contoso.onmicrosoft.com/\(Self.document)", at: EntraTenants.customers)
        #expect(document["issuer"]?.string == EntraTenants.issuer)
        #expect(
            document["token_endpoint"]?.string == "http://\(EntraTenants.customers)/r7.\(Self.id)/oauth2/v2.0/token")
        let requests = try await mock.list("requests?run=r7&profile=external-id")
        #expect(requests.count == 1)
    }

    @Test
    func `MSAL finds the real names of its network, and browsers find an empty icon`() async throws {
        #expect(try await mock.get("/favicon.ico").status == 204)
        let instance = try await mock.document("/common/discovery/instance?api-version=1.1")
        #expect(instance.names == ["tenant_discovery_endpoint", "api-version", "metadata"])
        #expect(
            instance["metadata"]?.array?.first?.object?["aliases"]
                == ["login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"])
    }

    @Test("Instance discovery names the tenant that is asked for, to pages of every origin, and refuses unknown hosts")
    func instanceDiscovery() async throws {
        func ask(_ authority: String) async throws -> Response {
            try await mock.get(
                "/common/discovery/instance?api-version=1.1&authorization_endpoint=\(authority.percentEncoded)",
                ["Origin": "https://page.example"])
        }
        let known = try await ask("https://login.windows.net/fabrikam.onmicrosoft.com/oauth2/v2.0/authorize")
        #expect(known.headers["Access-Control-Allow-Origin"] == "*")
        #expect(
            try known.json()["tenant_discovery_endpoint"]?.string
                == "https://login.windows.net/fabrikam.onmicrosoft.com/\(Self.document)")
        for authority in ["https://login.evil.example/x/oauth2/v2.0/authorize", "nonsense"] {
            let refused = try await ask(authority)
            #expect(refused.status == 400 && refused.headers["Access-Control-Allow-Origin"] == "*")
            let error = try refused.json()
            #expect(error["error"] == "invalid_instance" && error["error_codes"] == [50049])
        }
    }
}
