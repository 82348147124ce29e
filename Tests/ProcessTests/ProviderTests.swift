import Support
import Testing

@Suite("Providers in the settings of task-server") struct ProviderTests {
    private static let document = ".well-known/openid-configuration"

    /// The settings of a stage, with these documents in place of the authority.
    private func run(_ command: [String], _ stage: Stage, _ documents: [String]) throws -> (
        ChildProcess.End, String, String
    ) {
        let urls = documents.joined(separator: ",")
        let result = try stage.run(
            command, ["TASKS_AUTHORITY": "", "TASKS_POLICIES": "", "TASKS_METADATA_URL": urls])
        return (result.end, result.output, result.errors)
    }

    @Test func `Two providers or tenants are refused at the start, all of them at once, with what to do`() throws {
        let stage = try Stage()
        let mine = "\(stage.authority)/b2c_1_sign_in/v2.0/\(Self.document)"
        let others = [
            "https://id.example.com/\(Self.document)",
            "\(stage.issuer)/fabrikam.onmicrosoft.com/b2c_1_sign_in/v2.0/\(Self.document)",
            "http://127.0.0.1:1/contoso.onmicrosoft.com/b2c_1_sign_in/v2.0/\(Self.document)",
        ]
        for command in [[], ["check"], ["explain-token"]] {
            let (end, output, errors) = try run(command, stage, [mine] + others)
            #expect(end == .exit(78) && output == "")
            for other in others {
                #expect(errors.contains("\(mine) and \(other) are of two providers"), "\(errors)")
            }
            #expect(errors.contains("Make each a source of its own (TASKS_SOURCES)."))
        }
    }

    @Test func `B2C without a policy, or with two in one address, is refused at the start`() throws {
        let stage = try Stage()
        let base = "https://contoso.b2clogin.com/contoso.onmicrosoft.com"
        let (end, _, errors) = try run(
            ["check"], stage, ["\(base)/v2.0/\(Self.document)", "\(base)/b2c_1_a/v2.0/\(Self.document)?p=b2c_1_b"])
        #expect(end == .exit(78))
        #expect(errors.contains("names no policy") && errors.contains("names two policies"), "\(errors)")
    }

    @Test func `Policies of one tenant work by their addresses, and no other policy does`() throws {
        let stage = try Stage()
        let urls = ["b2c_1_sign_in", "b2c_1_sign_up"].map { "\(stage.authority)/\($0)/v2.0/\(Self.document)" }
        let (end, output, _) = try run(["check"], stage, urls)
        #expect(end == .exit(0) && output.contains("for tokens of the policy b2c_1_sign_in"), "\(output)")
        let server = try stage.server(
            ["TASKS_AUTHORITY": "", "TASKS_POLICIES": "", "TASKS_METADATA_URL": urls.joined(separator: ",")])
        #expect(try server.ask("GET", "/api/tasks", token: stage.token()).status == 200)
        let other = try stage.token("user=alice@example.com&policy=b2c_1_facebook")
        #expect(try server.ask("GET", "/api/tasks", token: other).status == 401)
        #expect(try server.stop() == .exit(0))
    }

    @Test func `A document that names the issuer of another tenant is refused by check and by the server`() throws {
        let stage = try Stage(["MOCK_ISSUER": "http://127.0.0.1:1"])
        let (end, output, _) = try run(["check"], stage, ["\(stage.authority)/b2c_1_sign_in/v2.0/\(Self.document)"])
        #expect(end == .exit(1), "\(output)")
        #expect(
            output.contains("WRONG authority, b2c_1_sign_in: The issuer in the metadata does not belong"), "\(output)")
    }
}
