/// The state of a server at one moment.
public struct ServerStatistics: Sendable, Equatable {
    /// Connections that are open.
    public var connections = 0
    /// Connections that were ever opened.
    public var connectionsOpened = 0
    /// Connections that were closed at once because their address had as many as it may.
    public var connectionsRefused = 0
    /// Connections that were ended because their peers had left.
    public var connectionsVanished = 0
    /// Requests whose first line came.
    public var requests = 0
    /// Requests that wait for the handler.
    public var suspended = 0
    /// How often each time was used up.
    public var deadlines: [Deadline: Int] = [:]
}
