import Basics
import HTTP
import JSON

/// An error of External ID and Entra (P-37; docs/reproduced.md, "Errors").
struct EntraError: Equatable, Sendable {
    /// The value of `error` (RFC 6749 section 5.2).
    let error: String
    /// The number after `AADSTS`, and in `error_codes`.
    let number: Int
    let text: String

    init(_ error: String, _ number: Int, _ text: String) {
        self.error = error
        self.number = number
        self.text = text
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

    /// The value of `error_description`.
    func description(trace: String, correlation: String, now: Int64) -> String {
        "AADSTS\(number): \(text)\r\nTrace ID: \(trace)\r\nCorrelation ID: \(correlation)\r\n"
            + "Timestamp: \(Timestamp.b2cText(seconds: now))"
    }

    var uri: String { "\(EntraHost.loginBase)/error?code=\(number)" }

    /// The members in the order of the service.
    func json(correlation: String, now: Int64) -> JSONValue {
        let trace = GUID.random()
        return [
            "error": .string(error),
            "error_description": .string(description(trace: trace, correlation: correlation, now: now)),
            "error_codes": [.integer(Int64(number))], "timestamp": .string(Timestamp.b2cText(seconds: now)),
            "trace_id": .string(trace), "correlation_id": .string(correlation), "error_uri": .string(uri),
        ]
    }
}

extension RequestContext {
    func response(_ error: EntraError) -> Response {
        Response.json(error.json(correlation: correlation, now: now), status: 400, headers: headers)
    }

    /// Whether the password grant is one here.
    var allowsPasswordGrant: Bool {
        configuration.profile.isEntra ? configuration.behaviour.entra.passwordGrant : policy.allowsPasswordGrant
    }
}
