/// Answers requests.
///
/// A server calls it on the thread of its event loop, so it must not block: a wait belongs into
/// ``Decision/later(_:)``.
package protocol RequestHandler: Sendable {
    /// Decides on a request when its head has been read, before a byte of the body was read (V-08, V-122).
    ///
    /// A request without a body, or whose body is not needed, is answered here or by ``Decision/later(_:)``.
    func decide(on head: RequestHead) -> Decision
}

/// What to do with a request.
package enum Decision: Sendable {
    /// Answered. A body, if one follows, is not handed over: after a refusal (400 and above) the connection closes
    /// without reading it, otherwise it is read up to the limit and dropped.
    case respond(Response)
    /// Decided when the body has been read. A body longer than `limit` bytes never reaches the closure: it is refused with
    /// a 413 by the server.
    case readBody(limit: Int, @Sendable (_ body: [UInt8]) -> Decision)
    /// Decided after a wait. Costs a task, so it is not for answers that are known already. Runs on the connection's
    /// event loop: never block.
    case later(@Sendable () async -> Decision)

    /// Answered after the body has been read, perhaps after a wait.
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
