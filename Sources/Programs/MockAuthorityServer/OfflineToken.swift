import HTTP
import MockAuthority
import Platform
import Settings

/// Prints the response of an authority with these settings to a request for a token, without listening.
func printOfflineToken(_ settings: MockSettings, _ target: String) -> Never {
    let authority = authority(settings, configuration(settings, settings.network.listen))
    let request: RequestHead
    do throws(HTTPFault) {
        request = RequestHead(method: .get, target: try RequestTarget(parsing: target))
    } catch {
        fail(["'\(target)' is not a request for a token."], .badSettings)
    }
    Task.detached {
        guard case .later(let decide) = authority.decide(on: request), case .respond(let response) = await decide()
        else {
            fail(["the request for a token was not answered."], .failure)
        }
        let text = String(decoding: response.body, as: UTF8.self)
        let line = text.hasSuffix("\n") ? String(text.dropLast()) : text
        if response.status == 200 { answer(line) }
        fail([line], .failure)
    }
    // The task ends the program.
    while true { Wakeup().wait() }
}
