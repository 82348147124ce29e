import HTTP
import Tokens

/// Everything that the API refuses, with tables of problems in which no byte of a request occurs (V-117).
///
/// A code is never changed, and never used again for something else. `Public/problems.html` explains each.
enum APIFailure: Error {
    case credentials(CredentialFailure)
    case input(InputFailure)
    case state(StateFailure)
    /// No route and no file has this path.
    case nothingHere
    /// The path has other methods (V-147).
    case methodNotAllowed([Method])

    var problem: Problem {
        switch self {
        case .credentials(let failure): failure.problem
        case .input(let failure): failure.problem
        case .state(let failure): failure.problem
        case .nothingHere:
            Problem(
                404, "request.path", "Nothing here", "The tasks are at /api/tasks; /openapi.yaml lists everything.")
        case .methodNotAllowed(let methods):
            Problem(
                405, "request.method", "Method not allowed", "Possible here: \(Self.list(methods)).",
                headers: ["Allow": Self.list(methods + [.options])])
        }
    }

    /// The reason why the token was refused, if it was.
    var tokenRefusal: TokenRefusal? {
        guard case .credentials(.token(let refusal)) = self else { return nil }
        return refusal
    }

    private static func list(_ methods: [Method]) -> String {
        methods.map(\.name).joined(separator: ", ")
    }
}
