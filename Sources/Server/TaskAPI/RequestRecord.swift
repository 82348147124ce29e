public import HTTP
public import Tokens

/// What is known of a request when its answer is ready, for the log and the metrics.
///
/// Holds nothing that came from the client but its correlation ids, which are cut and cleaned, and no claim but a
/// digest of the owner: whoever prints all of it gives nothing away (V-130).
public struct RequestRecord: Sendable {
    /// The number of the request, as in `X-Request-Id`.
    public var identifier: String
    /// What was asked.
    public var method: Method
    /// The pattern of the path, such as `/api/tasks/{id}`.
    public var route: String
    /// The status of the answer.
    public var status: Status
    /// From the head being in to the answer being ready, in nanoseconds.
    public var duration: UInt64
    /// The length of the answer's body, in bytes.
    public var bytes: Int
    /// The address of the client.
    public var peer: String
    /// A digest of the owner, the same for all requests of one person.
    public var owner: UInt64?
    /// The code of the problem that was answered.
    public var problem: String?
    /// The fine reason why the token was refused (V-116).
    public var refusal: TokenRefusal?
    /// `kid` of a refused token's header, at most 64 printable characters: names a public key.
    public var keyIdentifier: String?
    /// A digest of a refused token, the same whenever it comes again; the token cannot be had from it.
    public var tokenFingerprint: String?
    /// `client-request-id`, at most 64 characters of letters, digits and `-._`.
    public var clientRequestIdentifier: String?
    /// The trace id of a valid `traceparent`.
    public var trace: String?
}
