import MockAuthority
import Platform
import Settings

/// Runs `mock-authority health`, which asks the authority that runs with the same settings.
///
/// A container's health check then needs no other program.
func runHealth(_ settings: MockSettings) -> Never {
    let address = settings.network.listen.seenFromHere
    do throws(SystemError) {
        // This resource always exists, and reading it changes nothing.
        let reply = try PlainReply.get(MockAuthority.Path.badTokens, host: address.host, port: address.port)
        if reply.status == 200 { answer("alive") }
        fail(["\(address) answers \(reply.status)"], .failure)
    } catch {
        fail(["cannot \(error)"], .failure)
    }
}
