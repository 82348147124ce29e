import JSON
@testable import MockAuthority

/// The configuration file of the mock: what is taken has what it needs, and its accounts are read as they are written.
func checkConfiguration(_ input: [UInt8]) throws {
    let configuration: Configuration
    do throws(InputError) {
        configuration = try Configuration(parsing: input)
    } catch {
        try require(!error.message.isEmpty, "a mistake is named")
        return
    }
    try require(!configuration.policies.isEmpty, "there is a policy")
    try require(!configuration.applications.clients.isEmpty, "there is a client")
    let users = JSONValue.object(["users": .array(configuration.users.map(\.json))]).serialized()
    guard let again = try? Configuration(parsing: users) else {
        // An account of a file that is too long for the reader when written out is the one exception.
        try require(users.count > input.count, "accounts are read as they were written")
        return
    }
    try require(again.users == configuration.users, "accounts are read as they were written")
}
