/// Answers requests on the thread of an event loop, which must not block: a wait belongs into ``Decision/later(_:)``.
package protocol RequestHandler: Sendable {
    /// Decides on a request when its head has been read, before a byte of the body was read (V-08, V-122).
    ///
    /// A request without a body, or with a body that is not needed, is answered here or by ``Decision/later(_:)``.
    func decide(on head: RequestHead) -> Decision
}

/// The next step for a request.
package enum Decision: Sendable {
    /// Answers. After a refusal (400 and above) the connection closes without reading a body that follows; otherwise
    /// such a body is read up to the limit and dropped.
    case respond(Response)
    /// Decides when the body has been read. The server refuses a body longer than `limit` bytes with a 413 and does not
    /// call the closure.
    case readBody(limit: Int, @Sendable (_ body: [UInt8]) -> Decision)
    /// Decides after a wait. A wait costs a task, so answers that are already known must not use it. The closure runs
    /// on the connection's event loop and must never block.
    case later(@Sendable () async -> Decision)

    /// Returns a decision that answers after the body has been read, perhaps after a wait.
    package static func answerBody(
        limit: Int, _ answer: @escaping @Sendable (_ body: [UInt8]) async -> Response
    ) -> Decision {
        .readBody(limit: limit) { body in .later { .respond(await answer(body)) } }
    }

    /// Returns the same decision with another answer in the end.
    package func map(_ change: @escaping @Sendable (Response) -> Response) -> Decision {
        switch self {
        case .respond(let response): .respond(change(response))
        case .readBody(let limit, let decide): .readBody(limit: limit) { decide($0).map(change) }
        case .later(let decide): .later { await decide().map(change) }
        }
    }
}
