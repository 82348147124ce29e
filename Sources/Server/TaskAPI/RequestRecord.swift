package import HTTP
package import Tokens

/// What is known of a request when its answer is ready, for the log and the metrics.
///
/// Holds nothing that came from the client but its correlation ids, which are cut and cleaned, and no claim but a
/// digest of the owner: all of it may be printed (V-130).
package struct RequestRecord: Sendable {
    /// The number of the request, as in `X-Request-Id`.
    package var identifier: String
    /// What was asked.
    package var method: Method
    /// The pattern of the path, such as `/api/tasks/{id}`.
    package var route: String
    package var status: Status
    /// From the head being in to the answer being ready, in nanoseconds.
    package var duration: UInt64
    /// The length of the answer's body, in bytes.
    package var bytes: Int
    /// The address of the client.
    package var peer: String
    /// A digest of the owner, the same for all requests of one person.
    package var owner: UInt64?
    /// The code of the problem that was answered.
    package var problem: String?
    /// The fine reason why the token was refused (V-116).
    package var refusal: TokenRefusal?
    /// Finds out what may be shown of the refused token: as long as another verification takes, so only for a line that
    /// is written (V-132).
    package var refusedToken: (@Sendable () -> RefusedToken?)?
    /// `client-request-id`, at most 64 characters of letters, digits and `-._`.
    package var clientRequestIdentifier: String?
    /// The trace id of a valid `traceparent`.
    package var trace: String?
}
