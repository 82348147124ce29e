import Basics
import HTTP
import JSON

/// An error response of the services, a row of Static/refusals.txt (docs/reproduced.md, "Errors").
///
/// A value and not an enum: no code distinguishes the cases.
struct Refusal: Error, Equatable, Sendable {
    let error: String
    let code: String
    let text: String
    private(set) var entra: EntraError

    /// Takes the lines of a row; what B2C does not have is told in the words of Entra.
    private init(_ lines: [String]) {
        let fields = lines.map { $0.split(separator: " ", maxSplits: 3).map(String.init) }
        guard let ofEntra = fields.last, fields.allSatisfy({ $0.count == 4 }), let number = Int(ofEntra[2]) else {
            preconditionFailure("a row of refusals.txt has lines of four fields: \(lines)")
        }
        entra = EntraError(ofEntra[1], number, ofEntra[3])
        (error, text) = (fields[0][1], fields[0][3])
        code = "AADB2C" + (fields.count > 1 ? fields[0][2] : "")
    }

    static let table = TextTable(PackageResources.refusals_txt)

    /// The row that is called like the declaration, with these values in the places of `{0}`, `{1}` and so on.
    private static func row(_ values: String..., of name: String = #function) -> Refusal {
        let lines = table[String(name.prefix { $0 != "(" })]
        return Refusal(
            lines.map { line in
                let parts = line.split(separator: "{", omittingEmptySubsequences: false)
                return parts.dropFirst().reduce(String(parts[0])) { text, part in
                    text + (part.first?.wholeNumberValue.map { values[$0] } ?? "") + part.dropFirst(2)
                }
            })
    }

    /// The value of `error_description`: three lines, each ended as the service ends them.
    func description(correlation: String, now: Int64) -> String {
        "\(code): \(text)\r\nCorrelation ID: \(correlation)\r\nTimestamp: \(Timestamp.b2cText(seconds: now))\r\n"
    }

    /// The value of `error` by the standards: that of Entra, except for an unknown client (RFC 6749 section 5.2).
    var standardError: String { entra.number == 700_016 ? "invalid_client" : entra.error }

    /// The value of `error_description` in the characters of RFC 6749 appendix A.8.
    var standardDescription: String {
        text.replacing("\"", with: "'").filter { $0.isASCII && $0 != "\\" && ($0 == " " || !$0.isWhitespace) }
    }
}

// Grants, and what B2C does not have: devices, tokens on behalf of a person, several tenants.
extension Refusal {
    static var wrongPassword: Refusal { row() }
    static var notOurGrant: Refusal { row() }
    static var accountDisabled: Refusal { row() }
    static var codeRedeemed: Refusal { row() }
    static var accountGone: Refusal { row() }
    static var wrongVerifier: Refusal { row() }
    static var missingVerifier: Refusal { row() }
    static var passwordGrantDisabled: Refusal { row() }
    static var internalError: Refusal { row() }
    static var devicePending: Refusal { row() }
    static var deviceDeclined: Refusal { row() }
    static var unknownDeviceCode: Refusal { row() }
    static var deviceCodeExpired: Refusal { row() }
    static var assertionForged: Refusal { row() }
    static var assertionExpired: Refusal { row() }
    static var assertionOfOtherAudience: Refusal { row() }
    static var notForConsumers: Refusal { row() }
    static var codeOfPage: Refusal { row() }
    static var codeOfNoPage: Refusal { row() }
    static var accessBlocked: Refusal { row() }
    static var multifactorNeeded: Refusal { row() }

    static func challenge(_ challenge: ClaimsChallenge) -> Refusal {
        var refusal = challenge.reason == .accessBlocked ? accessBlocked : multifactorNeeded
        (refusal.entra.suberror, refusal.entra.claims) = (challenge.suberror, challenge.claims)
        return refusal
    }

    static func otherClient(_ id: String) -> Refusal { row(id) }
    static func unsupportedGrant(_ type: String) -> Refusal { row(type) }
    static func tokenForItself(_ client: Client) -> Refusal { row(client.id, client.name) }
    static func grantOfOtherEndpoint(actual: String, expected: String) -> Refusal { row(actual, expected) }

    /// The mock does not keep the time of a revocation, so the time of the answer stands in its place.
    static func grantRevoked(_ grant: Grant, now: Int64) -> Refusal {
        row(Timestamp(seconds: grant.issued).text, Timestamp(seconds: now).text)
    }

    static func grantExpired(_ grant: Grant, now: Int64) -> Refusal {
        let ofToken = grant.binding.singlePage ? "refreshTokenOfPageExpired" : "refreshTokenExpired"
        return row(
            "\(now)", "\(grant.issued)", "\(grant.expires)", Timestamp(seconds: grant.issued).text,
            of: grant.kind == .code ? "codeExpired" : ofToken)
    }

    /// A person of another tenant (`home` is its id), who is no guest here.
    static func notGuest(_ user: User, of home: String, in tenant: Tenant, _ client: Client) -> Refusal {
        row(user.email, home, tenant.name, client.id, client.name)
    }
}

// Clients, their secrets and their assertions.
extension Refusal {
    static var missingClient: Refusal { row() }
    static var secretMissing: Refusal { row() }
    static var secretUnexpected: Refusal { row() }
    static var assertionMalformed: Refusal { row() }
    static var assertionForOther: Refusal { row() }

    static func secretWrong(_ client: Client) -> Refusal { row(client.id) }
    static func assertionOfOther(_ client: Client) -> Refusal { row(client.id) }
    static func assertionNotValidNow(now: Int64) -> Refusal { row(Timestamp(seconds: now).text) }
    static func certificateUnknown(_ thumbprint: [UInt8]) -> Refusal { row(thumbprint.digits) }
    static func assertionSignature(_ thumbprint: [UInt8]) -> Refusal { row(thumbprint.digits) }
    static func federatedKeyUnknown(_ kid: String, of issuer: String) -> Refusal { row(kid, issuer) }
    static func unknownClient(_ id: String, tenant: String) -> Refusal { row(id, tenant) }
    static func clientMismatch(_ given: String, _ known: String) -> Refusal { row(given, known) }

    /// `part` is the one that no federated credential of the client has.
    static func federation(_ number: Int, _ part: String, _ value: String) -> Refusal { row("\(number)", part, value) }
}

// Authorization requests and scopes.
extension Refusal {
    static var missingScope: Refusal { row() }
    static var openIDScopeMissing: Refusal { row() }
    static var challengeMethod: Refusal { row() }
    static var challengeMissing: Refusal { row() }
    static var wrongPrompt: Refusal { row() }
    static var invalidIDTokenHint: Refusal { row() }
    static var cancelled: Refusal { row() }
    static var forgotPassword: Refusal { row() }
    static var loginRequired: Refusal { row() }
    static var noSuchSession: Refusal { row() }
    static var accountNotChosen: Refusal { row() }
    static var scopeNotGranted: Refusal { row() }
    static var unmetAuthentication: Refusal { row() }

    static func consentRequired(_ client: Client) -> Refusal { row(client.id, client.name) }
    static func consentMissing(_ client: Client) -> Refusal { row(client.id, client.name) }
    static func malformed(_ name: String) -> Refusal { row(name) }
    static func missingParameter(_ name: String) -> Refusal { row(name) }
    static func redirectMismatch(_ uri: String, client: String) -> Refusal { row(uri, client) }
    static func responseType(_ type: String) -> Refusal { row(type) }
    static func responseMode(_ mode: String) -> Refusal { row(mode) }
    static func scopeWithoutResource(_ scope: String) -> Refusal { row(scope) }
    static func twoResources(_ scope: String) -> Refusal { row(scope) }

    /// `name` is that of a parameter which carries a whole request (OpenID Connect Core 3.1.2.6).
    static func parameterNotSupported(_ name: String) -> Refusal { row(name) }

    /// A daemon may ask for `<API>/.default` only.
    static func scopeOfApplication(_ scope: String) -> Refusal { row(scope) }

    /// A scope of an API that the tenant does not have.
    static func noSuchResource(_ scope: String, in tenant: Tenant) -> Refusal {
        row(scope, String(scope.lastIndex(of: "/").map { scope[..<$0] } ?? scope[...]), tenant.name)
    }

    /// A scope that looks right and that its API does not have, most often a misspelt one.
    static func noSuchScope(_ scope: String, named name: Substring, on resource: String, _ client: Client) -> Refusal {
        row(scope, client.title, String(name), resource)
    }
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
    /// MSAL decides by this: `bad_token` and `consent_required` make it ask the person.
    var suberror: String?
    /// What a client that is challenged asks for when the person signs in again.
    var claims: String?

    init(_ error: String, _ number: Int, _ text: String) {
        self.error = error
        self.number = number
        self.text = text
        suberror = [50173: "bad_token", 65001: "consent_required", 700_082: "bad_token", 700_084: "bad_token"][number]
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
            "claims": claims.map { .string($0) },
        ]
    }
}
