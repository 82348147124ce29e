import Basics

/// An error response of the service: a row of its error table (docs/b2c.md, "Token errors").
///
/// A value and not an enum: no code distinguishes the cases, and so each row is in one place.
struct Refusal: Error, Equatable, Sendable {
    /// The value of `error` (RFC 6749 section 5.2).
    let error: String
    /// The code that support pages know.
    let code: String
    /// The text after the code.
    let text: String

    private init(_ error: String, _ code: String, _ text: String) {
        self.error = error
        self.code = "AADB2C" + code
        self.text = text
    }

    /// The value of `error_description`: three lines, each ended as the service ends them.
    func description(correlation: String, now: Int64) -> String {
        "\(code): \(text)\r\nCorrelation ID: \(correlation)\r\nTimestamp: \(Timestamp.b2cText(seconds: now))\r\n"
    }
}

// Grants that are not good.
extension Refusal {
    static let wrongPassword = Refusal(
        "access_denied", "90225", "The username or password provided in the request are invalid.")
    static let notOurGrant = Refusal("invalid_grant", "90090", "The provided JWE is not a valid 5 segment token.")
    static let grantRevoked = Refusal(
        "invalid_grant", "90129", "The provided grant has been revoked. Please reauthenticate and try again.")
    static let accountGone = Refusal(
        "invalid_grant", "90128",
        "The account associated with this grant no longer exists. Please reauthenticate and try again.")
    static let wrongVerifier = Refusal(
        "invalid_grant", "90182", "The supplied code_verifier does not match associated code_challenge")
    static let missingVerifier = Refusal("invalid_grant", "90183", "The supplied code_verifier is invalid")
    static let passwordGrantDisabled = Refusal(
        "unauthorized_client", "90224", "Resource owner flow has not been enabled for the application.")
    static let internalError = Refusal(
        "invalid_grant", "90085",
        "The service has encountered an internal error. Please reauthenticate and try again.")

    static func grantExpired(now: Int64, issued: Int64, expires: Int64) -> Refusal {
        Refusal(
            "invalid_grant", "90080",
            "The provided grant has expired. Please re-authenticate and try again. "
                + "Current time: \(now), Grant issued time: \(issued), Grant expiration time: \(expires)")
    }

    static func otherPolicy(actual: String, expected: String) -> Refusal {
        Refusal(
            "invalid_grant", "90088",
            "The provided grant has not been issued for this endpoint. "
                + "Actual Value : \(actual) and Expected Value : \(expected)")
    }

    static func otherClient(_ id: String) -> Refusal {
        Refusal(
            "invalid_grant", "90279",
            "The provided client id '\(id)' does not match the client id that issued the grant.")
    }

    static func unsupportedGrant(_ type: String) -> Refusal {
        Refusal("unsupported_grant_type", "90086", "The supplied grant_type [\(type)] is not supported.")
    }
}

// Clients and their secrets.
extension Refusal {
    static let missingClient = Refusal(
        "invalid_request", "90008", "The request does not contain a client id parameter.")
    static let secretMissing = Refusal(
        "invalid_request", "90079", "Clients must send a client_secret when redeeming a confidential grant.")
    static let secretWrong = Refusal(
        "invalid_client", "90081",
        "The specified client_secret does not match the expected value for this client. "
            + "Please correct the client_secret and try again.")
    static let secretUnexpected = Refusal(
        "invalid_request", "90084",
        "Public clients should not send a client_secret when redeeming a publicly acquired grant.")

    static func missingParameter(_ name: String) -> Refusal {
        Refusal("invalid_request", "90083", "The request is missing required parameter: \(name).")
    }

    static func unknownClient(_ id: String, tenant: String) -> Refusal {
        Refusal(
            "unauthorized_client", "90018",
            "The client id '\(id)' specified in the request is not registered in tenant '\(tenant)'.")
    }

    static func clientMismatch(_ given: String, _ known: String) -> Refusal {
        Refusal(
            "invalid_request", "90011",
            "The client id '\(given)' provided in the request does not match client id '\(known)' "
                + "registered in policy.")
    }
}

// Scopes.
extension Refusal {
    static let missingScope = Refusal(
        "invalid_request", "90010", "The request does not contain a scope parameter.")
    static let openIDScopeMissing = Refusal(
        "invalid_request", "90110",
        "The scope parameter must include 'openid' when requesting a response_type that includes 'id_token'.")

    static func scopeUnsupported(_ scope: String) -> Refusal {
        Refusal("invalid_scope", "90117", "The scope '\(scope)' provided in the request is not supported.")
    }

    static func scopeWithoutResource(_ scope: String) -> Refusal {
        Refusal(
            "invalid_scope", "90055",
            "The scope '\(scope)' provided in request must specify a resource, "
                + "such as 'https://example.com/calendar.read'.")
    }

    static func twoResources(_ scope: String) -> Refusal {
        Refusal(
            "invalid_request", "90146",
            "The scope '\(scope)' provided in request specifies more than one resource for an access token, "
                + "which is not supported.")
    }
}

// Authorization requests.
extension Refusal {
    static let challengeMethod = Refusal(
        "invalid_request", "90184",
        "The supplied code_challenge_method is not supported. Supported values are plain or S256")
    static let challengeMissing = Refusal(
        "invalid_request", "99059", "The supplied request must present a code_challenge")
    static let wrongPrompt = Refusal(
        "invalid_request", "90043",
        "The prompt included in the request contains invalid values. "
            + "Expected 'none', 'login', 'consent' or 'select_account'.")
    static let invalidIDTokenHint = Refusal(
        "invalid_request", "90210",
        "The provided id_token_hint parameter could not be validated. Please provide another token and try again.")
    static let cancelled = Refusal(
        "access_denied", "90091", "The user has cancelled entering self-asserted information.")
    static let forgotPassword = Refusal("access_denied", "90118", "The user has forgotten their password.")

    static func redirectMismatch(_ uri: String, client: String) -> Refusal {
        Refusal(
            "redirect_uri_mismatch", "90006",
            "The redirect URI '\(uri)' provided in the request is not registered for the client id '\(client)'.")
    }

    static func responseType(_ type: String) -> Refusal {
        Refusal(
            "unsupported_response_type", "90013",
            "The requested response type '\(type)' provided in the request is not supported.")
    }

    static func responseMode(_ mode: String) -> Refusal {
        Refusal(
            "invalid_request", "90014",
            "The requested response mode '\(mode)' provided in the request is not supported.")
    }

    static func loginRequired(prompt: String) -> Refusal {
        Refusal(
            "login_required", "90077",
            "User does not have an existing session and request prompt parameter has a value of '\(prompt)'.")
    }
}
