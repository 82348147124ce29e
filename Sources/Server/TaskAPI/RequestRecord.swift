package import HTTP
package import Tokens

/// The facts about a request when its answer is ready, for the log and the metrics.
///
/// All may be printed (V-130): of the client they hold only cleaned correlation ids, and of the claims a digest of the
/// owner.
package struct RequestRecord: Sendable {
    /// The number of the request, as in `X-Request-Id`.
    package var identifier: String
    /// The method of the request.
    package var method: Method
    /// The pattern of the path, such as `/api/tasks/{id}`.
    package var route: String
    package var status: Status
    /// The time from the end of the request's head until the answer was ready, in nanoseconds.
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
    /// Examines the refused token, which takes as long as another verification, for a line that is written (V-132).
    package var refusedToken: (@Sendable () -> RefusedToken?)?
    /// `client-request-id`, at most 64 characters of letters, digits and `-._`.
    package var clientRequestIdentifier: String?
    /// The trace id of a valid `traceparent`.
    package var trace: String?
}
