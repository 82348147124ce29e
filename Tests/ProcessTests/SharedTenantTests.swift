import HTTP
import JSON
import Support
import Testing
import Tokens

/// One server for a tenant in High Scale Compatibility mode, whose people come with tokens of Azure AD B2C or of Entra
/// External ID, and for a workforce tenant beside it; one mock plays all three.
@Suite("Azure AD B2C and Entra External ID of one tenant, in one server")
struct SharedTenantTests {
    private static let tenant = "775527ff-9a37-4307-8b3d-cc311f58d925"
    private static let other = "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a"

    /// The services that the mock plays: how their tokens are asked for, and the audience of these tokens.
    private static let played = [
        (query: "profile=b2c", audience: Stage.client),
        (query: "profile=external-id", audience: "8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f"),
        (query: "profile=entra", audience: "1e9f8d7c-6b5a-4f3e-8d2c-1b0a9f8e7d6c"),
    ]

    /// The scopes that the API has in each of the services.
    private static let scopes = [
        "TASKS_READ_SCOPE": "tasks.read", "TASKS_WRITE_SCOPE": "tasks.write",
        "TASKS_SOURCE_EXT_READ_SCOPE": "Tasks.Read",
        "TASKS_SOURCE_EXT_WRITE_SCOPE": "Tasks.Write", "TASKS_SOURCE_WORK_READ_SCOPE": "Tasks.Read",
        "TASKS_SOURCE_WORK_WRITE_SCOPE": "Tasks.Write",
    ]

    private let stage: Stage

    init() throws {
        stage = try Stage(["MOCK_HIGH_SCALE_COMPATIBILITY": "true"])
        // The mock makes a key when the key is first needed, and that may take longer than a fetch may take.
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

    /// A server that takes tokens of all three sources.
    private func server(_ changes: [String: String] = [:]) throws -> Server {
        try stage.server(sources.merging(changes) { $1 })
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
        let owner = try server.owner(of: old)
        #expect(owner.utf8.count == 36)
        let forged = try token(2, "&claim=oid=%22\(owner)%22")
        #expect(try server.texts(token: forged) == [])
        #expect(try server.owner(of: forged) == "work:\(owner)")
        #expect(try server.stop() == .exit(0))
    }

    @Test(arguments: [false, true])
    func `Each bad token of each service is answered as the mock's list says`(withScopes: Bool) throws {
        let server = try server(withScopes ? Self.scopes : [:])
        func answer(_ source: Int, _ more: String) throws -> RawResponse {
            try server.ask("GET", "/api/tasks", token: token(source, more), ["Accept": "application/json"])
        }
        for (source, played) in Self.played.enumerated() {
            let scopes = withScopes && source == 0 ? "&scope=tasks.read%20tasks.write" : ""
            #expect(try answer(source, scopes).status == 200)
            for entry in try stage.catalogue(played.query) {
                let (status, code) = entry.response(withScopes: withScopes)
                let answer = try answer(source, "&bad=\(entry.name)")
                #expect(answer.status == status, "\(played.query), \(entry.name): \(answer.text)")
                #expect(code.map { answer.text.contains("\"\($0)\"") } ?? true, "\(entry.name): \(answer.text)")
            }
        }
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
        for (bad, text) in [
            ("no-profile", ", missing_owner): The token has no oid."), ("other-tenant", "\nProbably (wrong_tenant): "),
            ("aud-api-uri", "\nProbably (audience_form): "), ("aud-api-uri", "\nSetting: TASKS_SOURCE_EXT_CLIENT_ID\n"),
        ] {
            let (end, output, _) = try stage.run(["explain-token"], sources, input: token(1, "&bad=\(bad)"))
            #expect(end == .exit(1) && output.contains(text), "\(bad): \(output)")
            #expect(!output.contains("Probably (missing_owner)"), "it would repeat the line above: \(output)")
        }
        let onlyB2C = try stage.run(["explain-token"], input: token(1))
        #expect(onlyB2C.end == .exit(1), "\(onlyB2C.output)")
        let external = "https://\(Self.tenant).ciamlogin.com/\(Self.tenant)"
        for text in [
            "No source has the issuer of this token (iss).",
            "iss \(external)/v2.0 is not configured (\(stage.issuer)/",
            "For External ID add:\n    TASKS_SOURCES=ext\n    TASKS_SOURCE_EXT_AUTHORITY=\(external)\n",
        ] {
            #expect(onlyB2C.output.contains(text), "\(onlyB2C.output)")
        }
        let onlyExternal = [
            "TASKS_AUTHORITY": "\(stage.issuer)/\(Self.tenant)", "TASKS_POLICIES": "",
            "TASKS_ISSUER": "\(external)/v2.0", "TASKS_CLIENT_ID": Self.played[1].audience,
        ]
        let (end, output, _) = try stage.run(["explain-token"], onlyExternal, input: token(0))
        #expect(end == .exit(1) && output.contains("\nRefused (token.invalid, unknown_kid): "), "\(output)")
        #expect(output.contains(" is not configured (\(external)/v2.0 is). For Azure AD B2C add:\n"), "\(output)")
        #expect(output.contains("\n    TASKS_SOURCE_B2C_POLICIES=b2c_1_"), "\(output)")
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
}
