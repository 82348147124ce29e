import Basics
import HTTP
import JSON

/// An error response of the services, a row of Static/refusals.txt (docs/reproduced.md, "Errors").
struct Refusal: Error, Equatable, Sendable {
    enum Row: String, CaseIterable {
        // Grants of all providers.
        case wrongPassword, notOurGrant, otherClient, grantOfOtherEndpoint, grantRevoked, accountDisabled, accountGone
        case codeRedeemed, codeExpired, refreshTokenExpired, refreshTokenOfPageExpired, wrongVerifier, missingVerifier
        case unsupportedGrant, passwordGrantDisabled, scopeNotGranted, internalError
        // What B2C does not have: devices, tokens on behalf of a person, several tenants, codes of pages, challenges.
        case devicePending, deviceDeclined, unknownDeviceCode, deviceCodeExpired
        case assertionForged, assertionExpired, assertionOfOtherAudience, tokenForItself
        case notForConsumers, notGuest, codeOfPage, codeOfNoPage, accessBlocked, multifactorNeeded
        case notPosted, unknownInstance, unknownTenant
        // Clients, their secrets and their assertions.
        case missingClient, unknownClient, clientMismatch, secretMissing, secretWrong, secretUnexpected
        case assertionMalformed, assertionForOther, assertionOfOther, assertionNotValidNow, assertionSignature
        case certificateUnknown, federation, federatedKeyUnknown
        // Authorization requests.
        case missingParameter, malformed, parameterNotSupported, redirectMismatch, responseType, responseMode
        case challengeMethod, challengeMissing, wrongPrompt, invalidIDTokenHint, unmetAuthentication
        case cancelled, forgotPassword, loginRequired, noSuchSession, accountNotChosen, consentRequired, consentMissing
        // Scopes.
        case missingScope, openIDScopeMissing, noSuchResource, noSuchScope, scopeOfApplication, scopeWithoutResource
        case twoResources
    }

    let error: String
    let code: String
    let text: String
    private(set) var entra: EntraError

    static let table = TextTable(PackageResources.refusals_txt)

    /// The row with these values in the places of `{0}`, `{1}` and so on.
    ///
    /// What B2C does not have is told in the words of Entra.
    init(_ row: Row, _ values: String...) {
        let fields = Self.table[row.rawValue].map { line in
            let parts = line.split(separator: "{", omittingEmptySubsequences: false)
            let filled = parts.dropFirst().reduce(String(parts[0])) { text, part in
                text + (part.first?.wholeNumberValue.map { values[$0] } ?? "") + part.dropFirst(2)
            }
            return filled.split(separator: " ", maxSplits: 3).map(String.init)
        }
        guard let ofEntra = fields.last, fields.allSatisfy({ $0.count == 4 }), let number = Int(ofEntra[2]) else {
            preconditionFailure("a row of refusals.txt has lines of four fields: \(fields)")
        }
        // MSAL decides by the suberror: `bad_token` and `consent_required` make it ask the person.
        let kinds = ofEntra[1].split(separator: "/").map(String.init)
        entra = EntraError(
            error: kinds[0], number: number, text: ofEntra[3], suberror: kinds.count > 1 ? kinds[1] : nil)
        (error, text) = (fields[0][1], fields[0][3])
        code = "AADB2C" + (fields.count > 1 ? fields[0][2] : "")
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

// The rows whose values are computed.
extension Refusal {
    static func challenge(_ challenge: ClaimsChallenge) -> Refusal {
        var refusal = Refusal(challenge.reason == .accessBlocked ? .accessBlocked : .multifactorNeeded)
        (refusal.entra.suberror, refusal.entra.claims) = (challenge.suberror, challenge.claims)
        return refusal
    }

    /// The mock does not keep the time of a revocation, so the time of the answer stands in its place.
    static func grantRevoked(_ grant: Grant, now: Int64) -> Refusal {
        Refusal(.grantRevoked, Timestamp(seconds: grant.issued).text, Timestamp(seconds: now).text)
    }

    static func grantExpired(_ grant: Grant, now: Int64) -> Refusal {
        let ofToken = grant.binding.singlePage ? Row.refreshTokenOfPageExpired : .refreshTokenExpired
        return Refusal(
            grant.kind == .code ? .codeExpired : ofToken, "\(now)", "\(grant.issued)", "\(grant.expires)",
            Timestamp(seconds: grant.issued).text)
    }

    static func certificateUnknown(_ thumbprint: [UInt8]) -> Refusal { Refusal(.certificateUnknown, thumbprint.digits) }
    static func assertionSignature(_ thumbprint: [UInt8]) -> Refusal { Refusal(.assertionSignature, thumbprint.digits) }

    /// A scope of an API that the tenant does not have.
    static func noSuchResource(_ scope: String, in tenant: Tenant) -> Refusal {
        Refusal(
            .noSuchResource, scope, String(scope.lastIndex(of: "/").map { scope[..<$0] } ?? scope[...]), tenant.name)
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
    fileprivate(set) var suberror: String?
    /// What a client that is challenged asks for when the person signs in again.
    fileprivate(set) var claims: String?

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
