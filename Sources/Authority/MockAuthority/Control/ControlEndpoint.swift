internal import HTTP
internal import JSON

/// `/_mock/...`: what tests and people tell the authority beside the protocol.
struct ControlEndpoint: Sendable {
    let authority: MockAuthority
    let head: RequestHead
    let base: String

    static let bodyLimit = 65536

    /// Answers on the loopback, and elsewhere only if the operator said so twice.
    func decide() async -> Decision {
        guard isNear || authority.configuration.behaviour.switches.remoteControl else {
            return .respond(Reply.text("The controls of the mock answer on the loopback only.", status: 403))
        }
        let isReading = head.method == .get || head.method == .head
        switch Array(head.target.path.dropFirst()) {
        case ["token"]: return .respond(isReading ? await token() : Reply.methodNotAllowed("GET"))
        case ["token", "bad"]: return .respond(isReading ? catalogue : Reply.methodNotAllowed("GET"))
        case ["keys"]:
            if head.method == .post { return .readBody(limit: Self.bodyLimit) { await changeKeys($0) } }
            return .respond(isReading ? await keys() : Reply.methodNotAllowed("GET, POST"))
        default: return .respond(Reply.text("No such control. \(Self.controls)", status: 404))
        }
    }

    private static let controls = "There are /_mock/token, /_mock/token/bad and /_mock/keys."

    private var isNear: Bool {
        head.peer.hasPrefix("127.") || head.peer == "::1" || head.peer.hasPrefix("::ffff:127.")
    }

    /// Which run is meant.
    var run: Run { authority.runs.run(head.target["run"] ?? "") }

    /// Whether the client wants JSON.
    var wantsJSON: Bool {
        head.headers.acceptNames("application/json")
    }

    private var catalogue: Response {
        if wantsJSON { return Reply.json(.array(BadToken.allCases.map(\.json))) }
        return Reply.text(BadToken.allCases.map(\.line).joined(separator: "\n"))
    }

    private func token() async -> Response {
        do throws(ControlMistake) {
            let order = try TokenOrder(Parameters(head.target.query))
            let filled = try await authority.fill(order, run: run)
            return wantsJSON ? Reply.json(filled.reply) : Reply.text(filled.token)
        } catch {
            return Reply.text(error.sentence, status: 400)
        }
    }
}

/// A control that cannot be obeyed, in a sentence.
struct ControlMistake: Error, Equatable {
    let sentence: String
}

extension MockAuthority {
    fileprivate func fill(
        _ order: TokenOrder, run: Run
    ) async throws(ControlMistake) -> (token: String, reply: JSONValue) {
        do throws(OrderError) {
            return try await filled(order, run: run)
        } catch {
            throw ControlMistake(sentence: error.explanation)
        }
    }
}
