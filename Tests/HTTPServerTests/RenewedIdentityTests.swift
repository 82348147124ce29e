import HTTPServer
import Support
import Testing

@Suite("A renewed certificate takes the place of the earlier one")
struct RenewedIdentityTests {
    @Test func `An identity is freed with the last connection that shows it`() throws {
        let encrypted = try EncryptedServer()
        let server = encrypted.server
        let present = { () -> WeakIdentity in
            let identity = try #require(RenewedIdentity(encrypted.identity))
            server.present(identity)
            return WeakIdentity(identity: identity)
        }
        let shown = try present()
        var client: RawClient? = try RawClient(port: encrypted.port)
        #expect(try client?.get("/")?.status == 200)
        let renewed = try (0..<100).map { _ in try present() }
        #expect(renewed.dropLast().allSatisfy { $0.identity == nil } && renewed.last?.identity != nil)
        // The connection goes on with the one that it began with.
        #expect(try client?.get("/")?.status == 200 && shown.identity != nil)
        client = nil
        eventuallyBlocking { shown.identity == nil }
    }

    private struct WeakIdentity {
        weak var identity: RenewedIdentity?
    }
}
