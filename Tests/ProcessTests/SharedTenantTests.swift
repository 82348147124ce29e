import HTTP
import JSON
import Support
import Testing
import Tokens

/// One server for a tenant in High Scale Compatibility mode, whose people come with tokens of Azure AD B2C or of Entra
/// External ID, and for a workforce tenant beside it; one mock plays all three.
@Suite("Azure AD B2C and Entra External ID of one tenant, in one server", .timeLimit(.minutes(15)))
struct SharedTenantTests {
    private static let tenant = "775527ff-9a37-4307-8b3d-cc311f58d925"
    private static let other = "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a"

    /// A source as the mock plays it: how its tokens are asked for, where its keys are, and their audience.
    private struct Played {
        let query: String
        let keys: String
        let audience: String
    }

    private static let played = [
        Played(
            query: "profile=b2c", keys: "/\(Stage.tenant)/b2c_1_sign_in/discovery/v2.0/keys", audience: Stage.client),
        Played(
            query: "profile=external-id", keys: "/\(tenant)/discovery/v2.0/keys",
            audience: "8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f"),
        Played(
            query: "profile=entra", keys: "/\(other)/discovery/v2.0/keys",
            audience: "1e9f8d7c-6b5a-4f3e-8d2c-1b0a9f8e7d6c"),
    ]

    private let stage: Stage

    init() throws {
        stage = try Stage(["MOCK_HIGH_SCALE_COMPATIBILITY": "true"])
        // The mock makes a key when it is needed first, which may take longer than a fetch may.
        for played in Self.played { _ = try stage.token("user=alice&\(played.query)") }
    }

    /// The settings of the two named sources, as docs/connect-a-tenant.md has them.
    private var sources: [String: String] {
        [
            "TASKS_SOURCES": "ext,work",
            "TASKS_SOURCE_EXT_AUTHORITY": "\(stage.issuer)/\(Self.tenant)",
            "TASKS_SOURCE_EXT_ISSUER": "https://\(Self.tenant).ciamlogin.com/\(Self.tenant)/v2.0",
            "TASKS_SOURCE_EXT_CLIENT_ID": Self.played[1].audience, "TASKS_SOURCE_EXT_OWNERS": "shared",
            "TASKS_SOURCE_WORK_AUTHORITY": "\(stage.issuer)/\(Self.other)",
            "TASKS_SOURCE_WORK_ISSUER": "https://login.microsoftonline.com/\(Self.other)/v2.0",
            "TASKS_SOURCE_WORK_CLIENT_ID": Self.played[2].audience,
        ]
    }

    /// A server that has the keys of all three sources.
    private func server(_ changes: [String: String] = [:]) throws -> Server {
        let server = try stage.server(sources.merging(changes) { $1 })
        try server.awaitKeys(for: (0..<3).map { try token($0) })
        return server
    }

    private func token(_ source: Int, _ more: String = "") throws -> String {
        try stage.token("user=alice&\(Self.played[source].query)\(more)")
    }

    @Test
    func `A person has one list with the tokens of both services, and another provider's forged oid has none (P-15)`()
        throws
    {
        let server = try server()
        let (old, new) = (try token(0), try token(1))
        #expect(try server.add("with B2C", token: old).status == 201)
        #expect(try server.texts(token: new) == ["with B2C"])
        #expect(try server.add("with External ID", token: new).status == 201)
        let changed = try server.ask(
            "PATCH", "/api/tasks/1", token: new, ["Content-Type": "application/json"], body: #"{"completed":true}"#)
        #expect(changed.status == 200)
        let list = try server.ask("GET", "/api/tasks", token: old)
        #expect(try JSONValue(parsing: list.body).array?.map { $0["completed"] } == [true, false])
        #expect(try server.texts(token: old) == ["with B2C", "with External ID"])
        let owner = try JSONValue(parsing: server.ask("GET", "/api/me", token: old).body)["owner"].string ?? ""
        #expect(owner.utf8.count == 36)
        let forged = try token(2, "&claim=oid=%22\(owner)%22")
        #expect(try server.texts(token: forged) == [])
        let theirs = try JSONValue(parsing: server.ask("GET", "/api/me", token: forged).body)["owner"].string
        #expect(theirs == "work:\(owner)")
        #expect(try server.stop() == .exit(0))
    }

    @Test(arguments: [[:], ["TASKS_UNTIL": "2020-01-01"]])
    func `External ID serves its people while B2C is out of reach or at its end (P-15, P-18)`(
        changes: [String: String]
    ) throws {
        let noOne = ["TASKS_AUTHORITY": "http://127.0.0.1:1/\(Stage.tenant)"].merging(changes) { $1 }
        let server = try stage.server(sources.merging(noOne) { $1 })
        try server.awaitKeys(for: [token(1)])
        #expect(try server.add("without B2C", token: token(1)).status == 201)
        #expect(try server.stop() == .exit(0))
        let whole = try self.server()
        #expect(try whole.texts(token: token(0)) == ["without B2C"])
        #expect(try whole.stop() == .exit(0))
    }

    @Test func `A document of another tenant than that of shared owners is wrong, and concerns its tokens only (P-15)`()
        throws
    {
        // Of these, the settings name the tenant of the second, and the document of the first names another.
        let settings = [
            "TASKS_SOURCES": "work", "TASKS_SOURCE_WORK_OWNERS": "shared",
            "TASKS_SOURCE_WORK_AUTHORITY": "\(stage.issuer)/\(Self.other)",
            "TASKS_SOURCE_WORK_ISSUER": "https://login.microsoftonline.com/\(Self.other)/v2.0",
            "TASKS_SOURCE_WORK_CLIENT_ID": Self.played[2].audience,
        ]
        let check = try stage.run(["check"], settings)
        #expect(check.end == .exit(1), "\(check.output)")
        for line in ["WRONG authority, b2c_1_sign_in: the metadata names", "good  source work, "] {
            #expect(check.output.contains(line), "\(check.output)")
        }
        let server = try stage.server(settings)
        try server.awaitKeys(for: [token(2)])
        #expect(try server.ask("GET", "/api/tasks", token: token(2)).status == 200)
        #expect(try server.ask("GET", "/api/tasks", token: token(0)).status == 503)
        #expect(try server.stop() == .exit(0))
        #expect(server.process.output.contains("TASKS_SOURCE_WORK_OWNERS"), "\(server.process.output)")
    }

    @Test func `A token is good only with the key and the audience of its own source (P-10, P-11)`() throws {
        let server = try server()
        let identifiers = try Self.played.map { played in
            let set = try JSONValue(parsing: exchange(stage.mockPort, "GET", played.keys).body)
            return set["keys"].array?.first?["kid"].string ?? ""
        }
        #expect(Set(identifiers).count == 3 && !identifiers.contains(""))
        for source in 0..<3 {
            for key in 0..<3 {
                for audience in 0..<3 {
                    let changes = "&kid=\(identifiers[key])&claim=aud=%22\(Self.played[audience].audience)%22"
                    let status = try server.ask("GET", "/api/tasks", token: token(source, changes)).status
                    let isGood = key == source && audience == source
                    #expect(status == (isGood ? 200 : 401), "source \(source), key \(key), audience \(audience)")
                }
            }
        }
        #expect(try server.stop() == .exit(0))
    }

    @Test func `Check and explain-token say what is accepted, whose owners those are, and what is wrong (P-33, P-34)`()
        throws
    {
        let check = try stage.run(["check"], sources)
        #expect(check.end == .exit(0), "\(check.output)")
        for line in [
            "good  source ext, \(stage.issuer)/\(Self.tenant)/v2.0/.well-known/openid-configuration: issuer "
                + "https://\(Self.tenant).ciamlogin.com/\(Self.tenant)/v2.0 (as the settings demand), 2 RS256 keys from "
                + "127.0.0.1, for tokens that name no B2C policy",
            "open  source ext: audience \(Self.played[1].audience), access tokens, owners <oid>, shared with the source "
                + "without a name",
            "open  source work: audience \(Self.played[2].audience), access tokens, owners work:<oid>",
        ] {
            #expect(check.output.contains(line), "\(check.output)")
        }
        let good = try stage.run(["explain-token"], sources, input: token(1))
        #expect(
            good.output.hasPrefix("Source ext, because the token claims to be from its issuer: https://"),
            "\(good.output)")
        for (bad, code) in [
            ("graph", "graph_token"), ("v1", "v1_token"), ("app-only", "app_only"), ("no-profile", "missing_owner"),
            ("other-tenant", "wrong_tenant"), ("login-host-issuer", "login_host"), ("aud-api-uri", "audience_form"),
        ] {
            let (end, output, _) = try stage.run(["explain-token"], sources, input: token(1, "&bad=\(bad)"))
            #expect(end == .exit(1) && output.contains("\nProbably (\(code)): "), "\(bad): \(output)")
        }
        let onlyB2C = try stage.run(["explain-token"], input: token(1))
        #expect(onlyB2C.end == .exit(1), "\(onlyB2C.output)")
    }

    @Test func `A provider other than B2C has access tokens for the API, and ID tokens only if told so (P-28)`() throws
    {
        let json = ["Accept": "application/json"]
        let answer = try exchange(
            stage.mockPort, "GET",
            "/_mock/token?user=alice&\(Self.played[1].query)&scope=openid%20profile&nonce=n", json)
        let identity = try #require(try JSONValue(parsing: answer.body)["id_token"].string)
        // The document is given by its address, as that of any provider, and the audience is the client's own.
        let settings = [
            "TASKS_AUTHORITY": "", "TASKS_POLICIES": "",
            "TASKS_METADATA_URL": "\(stage.issuer)/\(Self.tenant)/v2.0/.well-known/openid-configuration",
            "TASKS_ISSUER": "https://\(Self.tenant).ciamlogin.com/\(Self.tenant)/v2.0",
            "TASKS_CLIENT_ID": try Claims(of: CompactToken(identity))["aud"]?.string ?? "",
        ]
        let (end, output, _) = try stage.run(["explain-token"], settings, input: identity)
        #expect(end == .exit(1) && output.contains("TOKEN_KIND=any"), "\(output)")
        for (kind, status) in [("", 401), ("any", 200)] {
            let server = try stage.server(settings.merging(["TASKS_TOKEN_KIND": kind]) { $1 })
            #expect(try server.ask("GET", "/api/tasks", token: identity).status == status, "\(kind)")
            #expect(try server.stop() == .exit(0))
        }
    }

    @Test func `The log names a common mistake by its code, and nothing of the token (P-32, P-33)`() throws {
        let server = try server()
        let graph = try token(1, "&bad=graph")
        let refused = try server.ask("GET", "/api/tasks", token: graph)
        #expect(refused.status == 401 && refused.text.contains("token.invalid"), "\(refused.text)")
        #expect(try server.stop() == .exit(0))
        #expect(server.process.output.contains(#""mistake":"graph_token""#), "\(server.process.output)")
        for segment in graph.split(separator: ".") { #expect(!server.process.output.contains(segment)) }
    }

    @Test func `The metadata of the protected resource names the issuers of all sources (P-35)`() throws {
        let server = try server(["TASKS_PUBLIC_URL": "https://tasks.example.com"])
        let challenge = try server.ask("GET", "/api/tasks").headers["WWW-Authenticate"] ?? ""
        let address = "/.well-known/oauth-protected-resource/api/tasks"
        #expect(
            challenge == "Bearer realm=\"tasks\", resource_metadata=\"https://tasks.example.com\(address)\"",
            "\(challenge)")
        let document = try JSONValue(parsing: server.ask("GET", address).body)
        let issuers = document["authorization_servers"].array?.compactMap(\.string) ?? []
        #expect(
            issuers == [
                "\(stage.issuer)/\(Self.tenant)/v2.0/", "https://\(Self.tenant).ciamlogin.com/\(Self.tenant)/v2.0",
                "https://login.microsoftonline.com/\(Self.other)/v2.0",
            ], "\(issuers)")
        #expect(try server.stop() == .exit(0))
    }

    @Test func `An audience that tokens of version 2 never carry is reported at the start (P-25)`() throws {
        let server = try stage.server(
            sources.merging(["TASKS_SOURCE_EXT_CLIENT_ID": "api://\(Self.played[1].audience)"]) { $1 })
        _ = try server.process.await { $0.contains("TASKS_SOURCE_EXT_CLIENT_ID: version 2") ? true : nil }
        #expect(try server.stop() == .exit(0))
    }
}
