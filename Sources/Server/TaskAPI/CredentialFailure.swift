import HTTP
import Tokens

/// Why a request is refused for its credentials (RFC 6750 section 3, V-01 to V-63).
enum CredentialFailure: Error {
    case missing
    /// The token is in the query, where the settings do not allow it.
    case inQuery
    case malformed
    case token(TokenRefusal)
    case missingScope(String)
    case tooManyRequests(retryAfter: Int)

    var problem: Problem {
        switch self {
        case .missing: Self.missingToken
        case .inQuery:
            Problem(
                401, "auth.missing", "No token",
                "Send the token as a header, Authorization: Bearer <token>; this server takes none in the query.",
                headers: Self.challenge())
        case .malformed:
            Problem(
                400, "request.credentials", "The credentials are malformed",
                "Send one Authorization field with one token: Authorization: Bearer <token>.",
                headers: Self.challenge("error=\"invalid_request\""))
        case .token(let refusal):
            Self.problem(of: refusal.outcome)
        case .missingScope(let scope):
            Self.problem(ofMissing: scope)
        case .tooManyRequests(let seconds):
            Problem(
                429, "request.rate", "Too many requests", "Wait \(seconds) s before the next request.",
                headers: ["Retry-After": String(seconds)])
        }
    }

    /// Returns the same problem for every bad token, so that attackers learn nothing, except for an expired token, which
    /// clients then refresh, and for one that is too long, with which nothing else would help (V-63).
    private static func problem(of outcome: TokenRefusal.Outcome) -> Problem {
        switch outcome {
        case .invalid: invalidToken
        case .expired: expiredToken
        case .tooLong: longToken
        case .insufficientScope(let scopes): problem(ofMissing: scopes)
        case .unavailable(let seconds):
            Problem(
                503, "keys.unavailable", "Tokens cannot be checked now",
                "The keys of the authority are not available; try again shortly.",
                headers: ["Retry-After": String(seconds)])
        }
    }

    // These answers are made once, since a flood of requests gets them.
    private static let missingToken = Problem(
        401, "auth.missing", "No token", "Send a token: Authorization: Bearer <token>.", headers: challenge())
    private static let invalidToken = Problem(
        401, "token.invalid", "The access token is invalid", "Sign in again, and send the new token.",
        headers: challenge("error=\"invalid_token\", error_description=\"The access token is invalid\""))
    private static let expiredToken = Problem(
        401, "token.expired", "The access token expired", "Refresh the token or sign in again, and send the new one.",
        headers: challenge("error=\"invalid_token\", error_description=\"The access token expired\""))

    private static let longToken = Problem(
        401, "token.too_long", "The access token is too long",
        "A new token would be as long. Ask the operator to have fewer groups or claims put into tokens of up to 16 KiB.",
        headers: challenge("error=\"invalid_token\", error_description=\"The access token is too long\""))

    private static func problem(ofMissing scope: String) -> Problem {
        Problem(
            403, "token.scope", "The token does not allow this",
            "Ask the authority for a token with the scope \(scope), and send that.",
            headers: challenge("error=\"insufficient_scope\", scope=\"\(scope)\""))
    }

    private static func challenge(_ parameters: String = "") -> FieldLines {
        ["WWW-Authenticate": parameters.isEmpty ? "Bearer realm=\"tasks\"" : "Bearer realm=\"tasks\", \(parameters)"]
    }
}

extension TokenRefusal {
    /// The code of the problem that a client gets for it; `/problems.html` explains it.
    package var problemCode: String { CredentialFailure.token(self).problem.code }
}
