import Basics
import Curl
import MockAuthority
import Settings

/// Runs `mock-authority health`, which asks the authority that runs with the same settings.
///
/// A container's health check then needs no other program.
func health(_ settings: MockSettings) throws(OperatorError) -> String {
    let address = settings.network.listen.seenFromHere
    let reply = try rethrowing(as: { OperatorError("\(address): \($0.message)") }) { () throws(FetchError) in
        // This resource always exists, and reading it changes nothing.
        try HTTPFetcher.askOwnServer("http://\(address)\(MockAuthority.Path.badTokens)")
    }
    guard reply.status == 200 else { throw OperatorError("\(address) answers \(reply.status)") }
    return "alive"
}
