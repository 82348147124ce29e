import Basics
import Curl
import HTTP
import MockAuthority
import Platform
import Settings

func runToken(_ arguments: [String]) throws(OperatorError) -> Never {
    let (given, settings) = try flags(TokenSpecification.names + ["authority"], in: arguments) { flag in
        OperatorError("\(flag) needs a value.", .badSettings)
    }
    let authority = given.last { $0.name == "authority" }?.value ?? runningAuthority()
    let query = given.filter { $0.name != "authority" }.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
    let target = "\(MockAuthority.Path.testToken)?\(query.joined(separator: "&"))"
    if settings.isEmpty { answer(try ask(authority, target)) }
    guard settings.contains(where: { parts(of: $0).name == "state" }) else {
        let help = commandHelp.first { $0.name == "token" }?.text.split(separator: "\n") ?? []
        let flags = help.dropFirst().joined(separator: "\n")
        throw OperatorError("token has no flag '\(settings[0])'. Flags:\n\(flags)", .badSettings)
    }
    try printOfflineToken(readSettings(settings).settings, target)
}

/// Returns the flags of these names with their values, and the other words in their order.
func flags(
    _ names: [String], in arguments: [String], orThrow missingValue: (String) -> OperatorError
) throws(OperatorError) -> (given: [(name: String, value: String)], others: [String]) {
    var given: [(name: String, value: String)] = []
    var others: [String] = []
    var rest = arguments[...]
    while let word = rest.popFirst() {
        let (name, value) = parts(of: word)
        guard names.contains(name) else {
            others.append(word)
            continue
        }
        guard let value = value ?? rest.popFirst() else { throw missingValue(word) }
        given.append((name, value))
    }
    return (given, others)
}

/// Returns the name and the value of a flag, such as `user` and `alice` of `--user=alice`.
func parts(of flag: String) -> (name: String, value: String?) {
    guard flag.hasPrefix("--") else { return ("", nil) }
    let parts = flag.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    return (parts[0], parts.count == 2 ? parts[1] : nil)
}

private func ask(_ authority: String, _ target: String) throws(OperatorError) -> String {
    guard let url = WebAddress(authority), !url.isEncrypted else {
        throw OperatorError("--authority \(authority) is not an address like http://127.0.0.1:3001", .badSettings)
    }
    let reply = try rethrowing(as: {
        OperatorError("\(authority): \($0.message). Is mock-authority running there?", .unavailable)
    }) { () throws(FetchError) in try HTTPFetcher.askOwnServer("http://\(url.host):\(url.port)\(target)") }
    guard reply.status == 200 else { throw OperatorError(reply.text) }
    return reply.text
}

/// Prints the response of an authority with these settings to a request for a token, without listening.
func printOfflineToken(_ settings: MockSettings, _ target: String) throws(OperatorError) -> Never {
    let authority = try authority(settings, configuration(settings, settings.network.listen))
    let wrongTarget = OperatorError("'\(target)' is not a request for a token.", .badSettings)
    let request = try rethrowing(as: { _ in wrongTarget }) { () throws(HTTPFault) in
        RequestHead(method: .get, target: try RequestTarget(parsing: target))
    }
    guard case .wait(let begin) = authority.decide(on: request) else { fail(wrongTarget) }
    _ = begin { decide in
        guard case .respond(let response) = decide() else {
            fail(OperatorError("the request for a token was not answered."))
        }
        let text = String(decoding: response.body, as: UTF8.self)
        let line = text.hasSuffix("\n") ? String(text.dropLast()) : text
        if response.status == 200 { answer(line) }
        fail(OperatorError(line))
    }
    // The answer ends the program.
    while true { Wakeup().wait() }
}
