/// What answers requests.
///
/// A server calls it on the thread of its event loop, so it must not block: what waits, awaits.
public protocol RequestHandler: Sendable {
    /// Decides on a request when its head is in, before a byte of the body was read (V-08, V-122).
    ///
    /// A request without a body (or one whose body nobody wants) is answered here.
    func decide(on head: RequestHead) async -> Decision
}

/// What becomes of a request whose head is in.
public enum Decision: Sendable {
    /// Answered. A body, if one follows, is not handed over: after a refusal (400 and above) the connection closes
    /// without reading it, otherwise it is read up to the limit and dropped.
    case respond(Response)
    /// Goes on when the body is in. A body longer than `limit` bytes never reaches the closure: it is refused with
    /// what ``RequestHandler`` implementations cannot see, a 413 of the server's own.
    case readBody(limit: Int, @Sendable (_ body: [UInt8]) async -> Response)

    /// The same decision with another answer in the end.
    public func map(_ change: @escaping @Sendable (Response) -> Response) -> Decision {
        switch self {
        case .respond(let response): .respond(change(response))
        case .readBody(let limit, let finish): .readBody(limit: limit) { change(await finish($0)) }
        }
    }
}
