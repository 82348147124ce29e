import Basics
import HTTP
import JSON

/// An error response of the services (docs/reproduced.md, "Errors" says where the codes come from).
///
/// A value and not an enum: no code distinguishes the cases, and so each row is in one place.
struct Refusal: Error, Equatable, Sendable {
    let error: String
    let code: String
    let text: String
    private(set) var entra: EntraError

    private init(
        _ error: String, _ code: String, _ text: String, entra entraError: String, _ number: Int, _ entraText: String
    ) {
        self.error = error
        self.code = "AADB2C" + code
        self.text = text
        entra = EntraError(entraError, number, entraText)
    }

    /// Returns the same refusal of B2C with another error of External ID and Entra.
    private func entra(_ error: String, _ number: Int, _ text: String) -> Refusal {
        var refusal = self
        refusal.entra = EntraError(error, number, text)
        return refusal
    }

    /// The value of `error_description`: three lines, each ended as the service ends them.
    func description(correlation: String, now: Int64) -> String {
        "\(code): \(text)\r\nCorrelation ID: \(correlation)\r\nTimestamp: \(Timestamp.b2cText(seconds: now))\r\n"
    }

    // MARK: - The refusals of a strict provider, in the terms of the standards

    static let scopeNotGranted = standard("invalid_scope", "The scope is wider than the one that was granted.")
    static let unmetAuthentication = standard(
        "unmet_authentication_requirements", "The authentication context that the client needs is not supported.")

    static func malformed(_ name: String) -> Refusal {
        standard("invalid_request", "The parameter \(name) is malformed.")
    }

    /// `name` is that of a parameter which carries a whole request (OpenID Connect Core 3.1.2.6).
    static func parameterNotSupported(_ name: String) -> Refusal {
        standard("\(name)_not_supported", "The parameter \(name) is not supported.")
    }

    private static func standard(_ error: String, _ text: String) -> Refusal {
        Refusal(error, "", text, entra: error, 0, text)
    }

    /// The value of `error` by the standards: that of Entra, except for an unknown client (RFC 6749 section 5.2).
    var standardError: String { entra.number == 700_016 ? "invalid_client" : entra.error }

    /// The value of `error_description` in the characters of RFC 6749 appendix A.8.
    var standardDescription: String {
        text.replacing("\"", with: "'").filter { $0.isASCII && $0 != "\\" && ($0 == " " || !$0.isWhitespace) }
    }

    // MARK: - Grants that are not good

    static let wrongPassword = Refusal(
        "access_denied", "90225", "The username or password provided in the request are invalid.",
        entra: "invalid_grant", 50126, "Error validating credentials due to invalid username or password.")
    static let notOurGrant = Refusal(
        "invalid_grant", "90090", "The provided JWE is not a valid 5 segment token.",
        entra: "invalid_grant", 70000, "Provided grant is invalid or malformed.")
    private static let revoked = Refusal(
        "invalid_grant", "90129", "The provided grant has been revoked. Please reauthenticate and try again.",
        entra: "invalid_grant", 50173, "")
    static let accountDisabled = revoked.entra("invalid_grant", 50057, "The user account is disabled.")
    /// A code that was redeemed before, of which B2C says the same as of a revoked grant.
    static let codeRedeemed = revoked.entra(
        "invalid_grant", 54005,
        "OAuth2 Authorization code was already redeemed, please retry with a new valid code or use an existing "
            + "refresh token.")
    static let accountGone = Refusal(
        "invalid_grant", "90128",
        "The account associated with this grant no longer exists. Please reauthenticate and try again.",
        entra: "invalid_grant", 50034, "The user account does not exist in the directory.")
    static let wrongVerifier = Refusal(
        "invalid_grant", "90182", "The supplied code_verifier does not match associated code_challenge",
        entra: "invalid_grant", 501481,
        "The Code_Verifier does not match the code_challenge supplied in the authorization request.")
    static let missingVerifier = Refusal(
        "invalid_grant", "90183", "The supplied code_verifier is invalid",
        entra: "invalid_grant", 501481,
        "The Code_Verifier does not match the code_challenge supplied in the authorization request.")
    static let passwordGrantDisabled = Refusal(
        "unauthorized_client", "90224", "Resource owner flow has not been enabled for the application.",
        entra: "unauthorized_client", 70001,
        "The resource owner password credentials grant is not enabled for the application.")
    static let internalError = Refusal(
        "invalid_grant", "90085",
        "The service has encountered an internal error. Please reauthenticate and try again.",
        entra: "server_error", 50000, "There was an error issuing a token or an issue with our sign-in service.")

    /// The mock does not keep the time of a revocation, so the time of the answer stands in its place.
    static func grantRevoked(_ grant: Grant, now: Int64) -> Refusal {
        revoked.entra(
            "invalid_grant", 50173,
            "The provided grant has expired due to it being revoked, a fresh auth token is needed. The user might have "
                + "changed or reset their password. The grant was issued on '\(Timestamp(seconds: grant.issued).text)' "
                + "and the TokensValidFrom date (before which tokens are not valid) for this user is "
                + "'\(Timestamp(seconds: now).text)'.")
    }

    static func grantExpired(_ grant: Grant, now: Int64) -> Refusal {
        let (number, text) = EntraError.ofExpired(grant)
        return Refusal(
            "invalid_grant", "90080",
            "The provided grant has expired. Please re-authenticate and try again. "
                + "Current time: \(now), Grant issued time: \(grant.issued), Grant expiration time: \(grant.expires)",
            entra: "invalid_grant", number, text)
    }

    static func grantOfOtherEndpoint(actual: String, expected: String) -> Refusal {
        Refusal(
            "invalid_grant", "90088",
            "The provided grant has not been issued for this endpoint. "
                + "Actual Value : \(actual) and Expected Value : \(expected)",
            entra: "invalid_grant", 500112,
            "The reply address '\(actual)' does not match the reply address '\(expected)' "
                + "provided when requesting Authorization code.")
    }

    static func otherClient(_ id: String) -> Refusal {
        Refusal(
            "invalid_grant", "90279",
            "The provided client id '\(id)' does not match the client id that issued the grant.",
            entra: "invalid_grant", 70000, "The provided grant was not issued to the application '\(id)'.")
    }

    static func unsupportedGrant(_ type: String) -> Refusal {
        Refusal(
            "unsupported_grant_type", "90086", "The supplied grant_type [\(type)] is not supported.",
            entra: "unsupported_grant_type", 70003, "The app requested an unsupported grant type '\(type)'.")
    }

    // MARK: - What B2C does not have: devices without a browser, tokens on behalf of a person, several tenants

    private static func ofEntra(_ error: String, _ number: Int, _ text: String) -> Refusal {
        Refusal(error, "", text, entra: error, number, text)
    }

    static let devicePending = ofEntra(
        "authorization_pending", 70016, "OAuth 2.0 device flow error. Authorization is pending. Continue polling.")
    static let deviceDeclined = ofEntra(
        "authorization_declined", 65004, "User declined to consent to access the app.")
    static let unknownDeviceCode = ofEntra("bad_verification_code", 70018, "Invalid verification code.")
    static let deviceCodeExpired = ofEntra(
        "expired_token", 70019, "Verification code expired. Have the user retry the sign-in.")

    static let assertionForged = ofEntra("invalid_grant", 50013, "Assertion failed signature validation.")
    static let assertionExpired = ofEntra(
        "invalid_grant", 500_133, "Assertion is not within its valid time range.")
    static let assertionOfOtherAudience = ofEntra(
        "invalid_grant", 500_131, "Assertion audience does not match the Client app presenting the assertion.")

    static let notForConsumers = ofEntra(
        "unauthorized_client", 70002, "The client does not exist or is not enabled for consumers.")
    static let codeOfPage = ofEntra(
        "invalid_request", 9_002_327,
        "Tokens issued for the 'Single-Page Application' client-type may only be redeemed via cross-origin requests.")
    static let codeOfNoPage = ofEntra(
        "invalid_request", 9_002_326,
        "Cross-origin token redemption is permitted only for the 'Single-Page Application' client-type.")

    static func tokenForItself(_ client: Client) -> Refusal {
        ofEntra(
            "invalid_request", 90009,
            "Application '\(client.id)'(\(client.name)) is requesting a token for itself. This scenario is supported "
                + "only if resource is specified using the GUID based App Identifier.")
    }

    /// A person of another tenant (`home` is its id), who is no guest here.
    static func notGuest(_ user: User, of home: String, in tenant: Tenant, _ client: Client) -> Refusal {
        ofEntra(
            "invalid_grant", 50020,
            "User account '\(user.email)' from identity provider 'https://sts.windows.net/\(home)/' does not exist in "
                + "tenant '\(tenant.name)' and cannot access the application '\(client.id)'(\(client.name)) in that "
                + "tenant. The account needs to be added as an external user in the tenant first. Sign out and sign in "
                + "again with a different Azure Active Directory user account.")
    }

    // MARK: - Clients and their secrets

    static let missingClient = Refusal(
        "invalid_request", "90008", "The request does not contain a client id parameter.",
        entra: "invalid_request", 900144, "The request body must contain the following parameter: 'client_id'.")
    static let secretMissing = Refusal(
        "invalid_request", "90079", "Clients must send a client_secret when redeeming a confidential grant.",
        entra: "invalid_client", 7000218,
        "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.")
    static func secretWrong(_ client: Client) -> Refusal {
        Refusal(
            "invalid_client", "90081",
            "The specified client_secret does not match the expected value for this client. "
                + "Please correct the client_secret and try again.",
            entra: "invalid_client", 7000215,
            "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, "
                + "not the client secret ID, for a secret added to app '\(client.id)'.")
    }

    static let secretUnexpected = Refusal(
        "invalid_request", "90084",
        "Public clients should not send a client_secret when redeeming a publicly acquired grant.",
        entra: "invalid_client", 700025,
        "Client is public so neither 'client_assertion' nor 'client_secret' should be presented.")

    // The signature, the certificate and the content of an assertion, which B2C refuses like a wrong secret.
    private static func assertion(_ number: Int, _ text: String) -> Refusal {
        Refusal("invalid_client", "90081", "The client assertion is not valid.", entra: "invalid_client", number, text)
    }

    static let assertionMalformed = assertion(50027, "JWT token is invalid or malformed.")
    static let assertionForOther = assertion(
        700_023, "Client assertion audience claim does not match Realm issuer.")

    static func assertionOfOther(_ client: Client) -> Refusal {
        assertion(
            700_021, "Client assertion application identifier doesn't match 'client_id' parameter '\(client.id)'.")
    }

    static func assertionNotValidNow(now: Int64) -> Refusal {
        assertion(
            700_024,
            "Client assertion is not within its valid time range. Current time: \(Timestamp(seconds: now).text).")
    }

    static func certificateUnknown(_ thumbprint: [UInt8]) -> Refusal {
        assertion(
            700_027,
            "The certificate with identifier used to sign the client assertion is not registered on application. "
                + "[Reason - The key was not found., Thumbprint of key used by client: '\(thumbprint.digits)']")
    }

    static func assertionSignature(_ thumbprint: [UInt8]) -> Refusal {
        assertion(
            700_027,
            "Client assertion contains an invalid signature. [Reason - The provided signature value did not match the "
                + "expected signature value., Thumbprint of key used by client: '\(thumbprint.digits)']")
    }

    /// `part` is the one that no federated credential of the client has.
    static func federation(_ number: Int, _ part: String, _ value: String) -> Refusal {
        assertion(
            number,
            "No matching federated identity record found for presented assertion \(part) '\(value)'. Check your "
                + "federated identity credential Subject, Audience and Issuer against the presented assertion. "
                + "https://learn.microsoft.com/entra/workload-id/workload-identity-federation")
    }

    static func missingParameter(_ name: String) -> Refusal {
        Refusal(
            "invalid_request", "90083", "The request is missing required parameter: \(name).",
            entra: "invalid_request", 900144, "The request body must contain the following parameter: '\(name)'.")
    }

    static func unknownClient(_ id: String, tenant: String) -> Refusal {
        Refusal(
            "unauthorized_client", "90018",
            "The client id '\(id)' specified in the request is not registered in tenant '\(tenant)'.",
            entra: "unauthorized_client", 700016,
            "Application with identifier '\(id)' was not found in the directory '\(tenant)'.")
    }

    static func clientMismatch(_ given: String, _ known: String) -> Refusal {
        Refusal(
            "invalid_request", "90011",
            "The client id '\(given)' provided in the request does not match client id '\(known)' "
                + "registered in policy.",
            entra: "invalid_request", 9002313, "Invalid request. Request is malformed or invalid.")
    }

    // MARK: - Scopes

    static let missingScope = Refusal(
        "invalid_request", "90010", "The request does not contain a scope parameter.",
        entra: "invalid_request", 900144, "The request body must contain the following parameter: 'scope'.")
    static let openIDScopeMissing = Refusal(
        "invalid_request", "90110",
        "The scope parameter must include 'openid' when requesting a response_type that includes 'id_token'.",
        entra: "invalid_scope", 70011,
        "The provided value for the input parameter 'scope' is not valid: it must include 'openid'.")

    /// A scope of an API that the tenant does not have.
    static func noSuchResource(_ scope: String, in tenant: Tenant) -> Refusal {
        let resource = scope.lastIndex(of: "/").map { scope[..<$0] } ?? scope[...]
        return Refusal(
            "invalid_scope", "90117", "The scope '\(scope)' provided in the request is not supported.",
            entra: "invalid_resource", 500011,
            "The resource principal named \(resource) was not found in the tenant named \(tenant.name). This can happen "
                + "if the application has not been installed by the administrator of the tenant or consented to by any "
                + "user in the tenant. You might have sent your authentication request to the wrong tenant.")
    }

    /// A scope that looks right and that its API does not have, most often a misspelt one.
    static func noSuchScope(
        _ scope: String, named name: Substring, on resource: String, _ client: Client, in tenant: Tenant
    ) -> Refusal {
        noSuchResource(scope, in: tenant).entra(
            "invalid_client", 650_053,
            "The application '\(client.name.isEmpty ? client.id : client.name)' asked for scope '\(name)' that doesn't "
                + "exist on the resource '\(resource)'. Contact the app vendor.")
    }

    /// A daemon may ask for `<API>/.default` only.
    static func scopeOfApplication(_ scope: String, in tenant: Tenant) -> Refusal {
        noSuchResource(scope, in: tenant).entra(
            "invalid_scope", 1_002_012,
            "The provided value for scope \(scope) is not valid. Client credential flows must have a scope value "
                + "with /.default suffixed to the resource identifier (application ID URI).")
    }

    static func scopeWithoutResource(_ scope: String) -> Refusal {
        Refusal(
            "invalid_scope", "90055",
            "The scope '\(scope)' provided in request must specify a resource, "
                + "such as 'https://example.com/calendar.read'.",
            entra: "invalid_scope", 70011,
            "The provided value for the input parameter 'scope' is not valid. The scope \(scope) is not valid.")
    }

    static func twoResources(_ scope: String) -> Refusal {
        Refusal(
            "invalid_request", "90146",
            "The scope '\(scope)' provided in request specifies more than one resource for an access token, "
                + "which is not supported.",
            entra: "invalid_scope", 28000,
            "Provided value for the input parameter scope is not valid because it contains "
                + "more than one resource: \(scope).")
    }

    // MARK: - Authorization requests

    static let challengeMethod = Refusal(
        "invalid_request", "90184",
        "The supplied code_challenge_method is not supported. Supported values are plain or S256",
        entra: "invalid_request", 501491, "Invalid code_challenge_method.")
    static let challengeMissing = Refusal(
        "invalid_request", "99059", "The supplied request must present a code_challenge",
        entra: "invalid_request", 50147, "The code_challenge parameter is missing or of the wrong size.")
    static let wrongPrompt = Refusal(
        "invalid_request", "90043",
        "The prompt included in the request contains invalid values. "
            + "Expected 'none', 'login', 'consent' or 'select_account'.",
        entra: "invalid_request", 90100, "'prompt' parameter is empty or not valid.")
    static let invalidIDTokenHint = Refusal(
        "invalid_request", "90210",
        "The provided id_token_hint parameter could not be validated. Please provide another token and try again.",
        entra: "invalid_request", 90100, "'id_token_hint' parameter is empty or not valid.")
    static let cancelled = Refusal(
        "access_denied", "90091", "The user has cancelled entering self-asserted information.",
        entra: "access_denied", 65004, "User declined to consent to access the app.")
    static let forgotPassword = Refusal(
        "access_denied", "90118", "The user has forgotten their password.",
        entra: "access_denied", 65004, "User declined to consent to access the app.")

    static func redirectMismatch(_ uri: String, client: String) -> Refusal {
        Refusal(
            "redirect_uri_mismatch", "90006",
            "The redirect URI '\(uri)' provided in the request is not registered for the client id '\(client)'.",
            entra: "invalid_request", 50011,
            "The redirect URI '\(uri)' specified in the request does not match the "
                + "redirect URIs configured for the application '\(client)'.")
    }

    static func responseType(_ type: String) -> Refusal {
        Refusal(
            "unsupported_response_type", "90013",
            "The requested response type '\(type)' provided in the request is not supported.",
            entra: "unsupported_response_type", 70005, "The app returned an unsupported response type '\(type)'.")
    }

    static func responseMode(_ mode: String) -> Refusal {
        Refusal(
            "invalid_request", "90014",
            "The requested response mode '\(mode)' provided in the request is not supported.",
            entra: "invalid_request", 70007,
            "'\(mode)' is not a supported value of 'response_mode' when requesting a token.")
    }

    static let loginRequired = Refusal(
        "interaction_required", "90077",
        "User does not have an existing session and request prompt parameter has a value of 'none'.",
        entra: "login_required", 50058, "Session information is not sufficient for single-sign-on.")
    static let noSuchSession = loginRequired.entra(
        "interaction_required", 160_021, "Application requested a user session which does not exist.")
    static let accountNotChosen = loginRequired.entra(
        "interaction_required", 16000,
        "Either multiple user identities are available for the current request or selected account is not supported for "
            + "the scenario.")
}

extension [UInt8] {
    /// Hexadecimal digits, as Entra writes thumbprints.
    fileprivate var digits: String {
        String(decoding: reduce(into: []) { $0.append(hexadecimal: $1, .upper) }, as: UTF8.self)
    }
}

/// An error of External ID and Entra (P-37; docs/reproduced.md, "Errors").
struct EntraError: Equatable, Sendable {
    let error: String
    /// The number after `AADSTS`, and in `error_codes`.
    let number: Int
    let text: String
    /// What MSAL decides by: `bad_token` makes MSAL.js ask the person.
    let suberror: String?

    init(_ error: String, _ number: Int, _ text: String) {
        self.error = error
        self.number = number
        self.text = text
        suberror = [50173, 700_082, 700_084].contains(number) ? "bad_token" : nil
    }

    /// The number and the text for a grant whose time is over.
    fileprivate static func ofExpired(_ grant: Grant) -> (Int, String) {
        let issued = "The token was issued on \(Timestamp(seconds: grant.issued).text)"
        if grant.kind == .code {
            return (
                70008,
                "The provided authorization code or refresh token has expired due to inactivity. Send a new interactive "
                    + "authorization request for this user and resource."
            )
        }
        guard grant.binding.singlePage else {
            return (
                700_082, "The refresh token has expired due to inactivity. \(issued) and was inactive for 90.00:00:00."
            )
        }
        return (
            700_084,
            "The refresh token was issued to a single page app (SPA), and therefore has a fixed, limited lifetime of "
                + "1.00:00:00, which can't be extended. It is now expired and a new sign in request must be sent by the "
                + "SPA to the sign in page. \(issued)."
        )
    }

    static let notPosted = EntraError(
        "invalid_request", 900_561, "The endpoint only accepts POST requests. Received a GET request.")

    static let unknownInstance = EntraError("invalid_instance", 50049, "Unknown or invalid instance.")

    static func unknownTenant(_ name: String) -> EntraError {
        EntraError(
            "invalid_request", 90002,
            "Tenant '\(name)' not found. Check to make sure you have the correct tenant ID and are signing into the "
                + "correct cloud.")
    }

    /// 401 for a client that failed to authenticate; a misspelt scope is `invalid_client`, too, but no such failure.
    var status: Status { error == "invalid_client" && number != 650_053 ? 401 : 400 }

    /// The value of `error_subcode` in a redirect, by which MSAL.NET knows that the person cancelled.
    var subcode: String? { error == "access_denied" ? "cancel" : nil }

    /// One line, as since 2024.
    func description(trace: String, correlation: String, now: Int64) -> String {
        "AADSTS\(number): \(text) Trace ID: \(trace) Correlation ID: \(correlation) "
            + "Timestamp: \(Timestamp.b2cText(seconds: now))"
    }

    /// Newer errors have no page, nor has the one of a person who cancelled.
    var uri: String? {
        [65004, 1_002_012, 9_002_326, 9_002_327].contains(number) || (700_211...700_213).contains(number)
            ? nil : "\(EntraHost.loginBase)/error?code=\(number)"
    }

    /// The members in the order of the service.
    func json(trace: String = GUID.random(), correlation: String, now: Int64) -> JSONValue {
        [
            "error": .string(error),
            "error_description": .string(description(trace: trace, correlation: correlation, now: now)),
            "error_codes": [.integer(Int64(number))], "timestamp": .string(Timestamp.b2cText(seconds: now)),
            "trace_id": .string(trace), "correlation_id": .string(correlation),
            "error_uri": uri.map { .string($0) }, "suberror": suberror.map { .string($0) },
        ]
    }
}
