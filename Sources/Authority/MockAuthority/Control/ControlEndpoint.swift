internal import HTTP
internal import JSON

/// `/_mock/...`: what tests and people tell the authority beside the protocol.
///
/// Each control takes `run=` in its query; the run of those who name none is the empty one.
struct ControlEndpoint: Sendable {
    let authority: MockAuthority
    let head: RequestHead
    let base: String

    static let bodyLimit = 65536

    /// Which run is meant.
    var run: Run { authority.runs.run(head.target["run"]?.lowercased() ?? "") }

    /// Answers on the loopback, and elsewhere only if the operator said so twice.
    func decide() async -> Decision {
        guard isNear || authority.configuration.behaviour.switches.remoteControl else {
            return .respond(Reply.text("The controls of the mock answer on the loopback only.", status: 403))
        }
        let path = Array(head.target.path.dropFirst())
        return switch head.method {
        case .get, .head: .respond(await show(path))
        case .post: order(path)
        case .put where path.count == 2 && path[0] == "users": putUser(path[1])
        case .delete where path.count == 2 && path[0] == "users": .respond(removeUser(path[1]))
        case .put, .patch, .delete, .options, .other: .respond(Reply.methodNotAllowed("GET, POST"))
        }
    }

    private func show(_ path: [String]) async -> Response {
        switch path {
        case ["token"]: await token()
        case ["token", "bad"]: catalogue
        case ["keys"]: await keys()
        case ["users"]: Reply.json(.array(run.directory.all.map(\.json)))
        case ["requests"]: Reply.json(.array(run.journal.all))
        case ["state"]: Reply.json(state)
        default: unknown
        }
    }

    private func order(_ path: [String]) -> Decision {
        if let command = command(path) { return obey(command) }
        switch path {
        case ["keys"]: return .answerBody(limit: Self.bodyLimit) { await changeKeys($0) }
        case ["reset"]:
            authority.runs.reset(head.target["run"]?.lowercased() ?? "")
            return .respond(Reply.json(state))
        default: return .respond(unknown)
        }
    }

    private var unknown: Response {
        Reply.text(
            """
            No such control. There are, all with ?run= for tests side by side:
              GET  /_mock/token?user=alice, /_mock/token/bad, /_mock/keys, /_mock/users, /_mock/requests, /_mock/state
              POST /_mock/keys, /_mock/faults, /_mock/clock, /_mock/revoke, /_mock/reset
              PUT and DELETE /_mock/users/NAME
            """, status: 404)
    }

    private var isNear: Bool {
        head.peer.hasPrefix("127.") || head.peer == "::1" || head.peer.hasPrefix("::ffff:127.")
    }

    /// Whether the client wants JSON.
    private var wantsJSON: Bool {
        head.headers.preferJSON
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
