/// What answers requests.
///
/// A server calls it on the thread of its event loop, so it must not block: what has to wait goes into
/// ``Decision/later(_:)``.
package protocol RequestHandler: Sendable {
    /// Decides on a request when its head is in, before a byte of the body was read (V-08, V-122).
    ///
    /// A request without a body (or one whose body nobody wants) is answered here, or ``Decision/later(_:)``.
    func decide(on head: RequestHead) -> Decision
}

/// What becomes of a request.
package enum Decision: Sendable {
    /// Answered. A body, if one follows, is not handed over: after a refusal (400 and above) the connection closes
    /// without reading it, otherwise it is read up to the limit and dropped.
    case respond(Response)
    /// Decided when the body is in. A body longer than `limit` bytes never reaches the closure: it is refused with
    /// what ``RequestHandler`` implementations cannot see, a 413 of the server's own.
    case readBody(limit: Int, @Sendable (_ body: [UInt8]) -> Decision)
    /// Decided when something else is there. Costs a task, so it is not for what is known already; and it goes on on the
    /// server's loop, so it must not keep that busy either.
    case later(@Sendable () async -> Decision)

    /// Answered when the body is in, and something else perhaps.
    package static func answerBody(
        limit: Int, _ answer: @escaping @Sendable (_ body: [UInt8]) async -> Response
    ) -> Decision {
        .readBody(limit: limit) { body in .later { .respond(await answer(body)) } }
    }

    /// The same decision with another answer in the end.
    package func map(_ change: @escaping @Sendable (Response) -> Response) -> Decision {
        switch self {
        case .respond(let response): .respond(change(response))
        case .readBody(let limit, let decide): .readBody(limit: limit) { decide($0).map(change) }
        case .later(let decide): .later { await decide().map(change) }
        }
    }
}
