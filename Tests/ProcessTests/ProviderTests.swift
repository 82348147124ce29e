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
}
