import Basics
import HTTP
import JSON

/// `/_mock/...`: controls for tests and people, which are no part of the protocol.
///
/// Each control takes `run=`, the name of a test run, in its query; without it, the run is that of tenant URLs without one.
extension HostContext {
    static let bodyLimit = 65536

    var runName: String { head.target["run"]?.lowercased() ?? "" }
    var run: TestRun { authority.runs.run(runName) }

    /// Controls answer on the loopback, and elsewhere only with `--allow-remote`.
    func control() async -> Decision {
        guard isLocal || configuration.behaviour.switches.remoteControl else {
            return .respond(Response.text("The controls of the mock answer on the loopback only.", status: 403))
        }
        let rows = Routes.controls.filter { $0.matches(head.target.path) }
        if let route = rows.first(where: { $0.methods.allows(head.method) }) { return await route.handle(self) }
        return switch head.method {
        case .get, .head, .post: .respond(unknownControl)
        case .put, .patch, .delete, .options, .other: .respond(Response.methodNotAllowed("GET, POST"))
        }
    }

    private var unknownControl: Response {
        let lines = Routes.controls.map { "  \($0.methods.names.joined(separator: ", ")) /\($0.path)" }
        return Response.text(
            """
            No such control. There are, all with ?run= for tests in parallel:
            \(lines.joined(separator: "\n"))
            """, status: 404)
    }

    private var isLocal: Bool { IPAddress(head.peer)?.isLoopback ?? false }

    private var wantsJSON: Bool { head.headers.preferJSON }

    /// `GET /_mock/users`.
    var users: Response { Response.json(.array(run.directory.all.map(\.json))) }

    /// `GET /_mock/requests`.
    var requests: Response { Response.json(.array(run.recordedRequests.all)) }

    /// `POST /_mock/reset`.
    func reset() -> Response {
        authority.runs.reset(runName)
        return Response.json(state)
    }

    /// `GET /_mock/token/bad`.
    var badTokens: Response {
        if wantsJSON { return Response.json(.array(BadToken.allCases.map(\.json))) }
        return Response.text(BadToken.allCases.map(\.line).joined(separator: "\n"))
    }

    /// `GET /_mock/token?user=alice`.
    func testToken() async -> Response {
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

/// Why a control was refused, for the person who called it.
struct ControlError: Error, Equatable {
    let message: String
}
