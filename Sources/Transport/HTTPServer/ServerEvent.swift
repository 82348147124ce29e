/// An event of a server that is neither a request nor an answer.
package enum ServerEvent: Sendable, Equatable {
    /// A message of libmicrohttpd, without text of clients; those that differ only in numbers or reasons are one kind.
    case log(kind: String, line: String)
    /// A connection was closed at once, because its address has as many as are allowed.
    case refused(peer: String)
    /// New connections must wait, in the backlog of the system.
    case waiting(Shortage)
    /// A connection was ended because it had used up its time.
    case cut(Deadline)
}

/// The shortage that prevents another connection.
package enum Shortage: Sendable, Equatable {
    /// All connections that the limits allow are open.
    case connections
    /// The system refuses, with this error number, because no descriptor or no memory is left.
    case system(Int32)
}

/// The times that a connection can use up (V-145), with their names in logs and metrics.
package enum Deadline: String, Sendable, Equatable, CaseIterable {
    /// There was no request on a kept connection.
    case idle
    /// The header block did not end.
    case header
    /// The body did not end, or came too slowly.
    case body
    /// The handler had no response; the client got a 503.
    case suspension
    /// The client did not read the response in time.
    case answer
    /// A client that was refused kept its connection open, or continued to send its body.
    case refusal
}
