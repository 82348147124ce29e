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
    var run: TestRun { authority.runs.run(head.target["run"]?.lowercased() ?? "") }

    /// Answers on the loopback, and elsewhere only if the operator said so twice.
    func decide() async -> Decision {
        guard isNear || authority.configuration.behaviour.switches.remoteControl else {
            return .respond(Response.text("The controls of the mock answer on the loopback only.", status: 403))
        }
        let path = Array(head.target.path.dropFirst())
        return switch head.method {
        case .get, .head: .respond(await show(path))
        case .post: order(path)
        case .put where path.count == 2 && path[0] == "users": putUser(path[1])
        case .delete where path.count == 2 && path[0] == "users": .respond(removeUser(path[1]))
        case .put, .patch, .delete, .options, .other: .respond(Response.methodNotAllowed("GET, POST"))
        }
    }

    private func show(_ path: [String]) async -> Response {
        switch path {
        case ["token"]: await token()
        case ["token", "bad"]: catalogue
        case ["keys"]: await keys()
        case ["users"]: Response.json(.array(run.directory.all.map(\.json)))
        case ["requests"]: Response.json(.array(run.requestLog.all))
        case ["state"]: Response.json(state)
        default: unknown
        }
    }

    private func order(_ path: [String]) -> Decision {
        if let command = command(path) { return obey(command) }
        switch path {
        case ["keys"]: return .answerBody(limit: Self.bodyLimit) { await changeKeys($0) }
        case ["reset"]:
            authority.runs.reset(head.target["run"]?.lowercased() ?? "")
            return .respond(Response.json(state))
        default: return .respond(unknown)
        }
    }

    private var unknown: Response {
        Response.text(
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
        if wantsJSON { return Response.json(.array(BadToken.allCases.map(\.json))) }
        return Response.text(BadToken.allCases.map(\.line).joined(separator: "\n"))
    }

    private func token() async -> Response {
        do throws(ControlError) {
            let specification = try TokenSpecification(Parameters(head.target.query))
            return try await token(specification)
        } catch {
            return Response.text(error.message, status: 400)
        }
    }

    private func token(_ specification: TokenSpecification) async throws(ControlError) -> Response {
        do throws(TokenSpecificationError) {
            return wantsJSON
                ? Response.json(try await authority.tokenResponse(specification, run: run))
                : Response.text(try await authority.token(specification, run: run))
        } catch {
            throw ControlError(message: error.message)
        }
    }
}

/// A control that cannot be obeyed, in a sentence.
struct ControlError: Error, Equatable {
    let message: String
}
