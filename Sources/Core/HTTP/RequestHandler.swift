package import Basics

/// Answers requests on the thread of an event loop, which must not block: a wait belongs into ``Decision/wait(_:)``.
package protocol RequestHandler: Sendable {
    /// Decides on a request when its head has been read, before a byte of the body was read (V-08, V-122).
    ///
    /// A request without a body, or with a body that is not needed, is answered here or after a wait.
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
    /// Decides after a wait, such as for a commit. The closure begins the wait on the connection's event loop without
    /// blocking, and returns another closure, which gives the wait up.
    case wait(@Sendable (_ resume: @escaping Resume) -> Cancellation)

    /// Ends the wait, once, on any thread; the connection's event loop then calls the closure that decides.
    ///
    /// If the request was given up, the thread that ends the wait calls the closure, and nobody gets its answer.
    package typealias Resume = @Sendable (_ decide: @escaping @Sendable () -> Decision) -> Void

    /// Decides in a task, which begins on the connection's event loop, and continues on a thread of Swift's pool.
    ///
    /// A task costs more than a call back, so it is for what is rare.
    package static func later(_ decide: @escaping @Sendable () async -> Decision) -> Decision {
        .wait { resume in
            let task = Task.immediate {
                let decision = await decide()
                resume { decision }
            }
            return { task.cancel() }
        }
    }

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
        case .wait(let begin): .wait { resume in begin { decide in resume { decide().map(change) } } }
        }
    }
}
