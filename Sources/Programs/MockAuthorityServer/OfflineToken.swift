import Basics
import HTTP
import MockAuthority
import Platform
import Settings

/// Prints the response of an authority with these settings to a request for a token, without listening.
func printOfflineToken(_ settings: MockSettings, _ target: String) throws(OperatorError) -> Never {
    let authority = try authority(settings, configuration(settings, settings.network.listen))
    let wrongTarget = OperatorError("'\(target)' is not a request for a token.", .badSettings)
    let request = try rethrowing(as: { _ in wrongTarget }) { () throws(HTTPFault) in
        RequestHead(method: .get, target: try RequestTarget(parsing: target))
    }
    Task.detached {
        guard case .later(let decide) = authority.decide(on: request), case .respond(let response) = await decide()
        else {
            fail(OperatorError("the request for a token was not answered."))
        }
        let text = String(decoding: response.body, as: UTF8.self)
        let line = text.hasSuffix("\n") ? String(text.dropLast()) : text
        if response.status == 200 { answer(line) }
        fail(OperatorError(line))
    }
    // The task ends the program.
    while true { Wakeup().wait() }
}
