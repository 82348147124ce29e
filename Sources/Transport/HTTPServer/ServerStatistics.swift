/// The state of a server at one moment.
package struct ServerStatistics: Sendable, Equatable {
    package var connections = 0
    /// Connections that were ever opened.
    package var connectionsOpened = 0
    /// Connections that were closed at once because their address had as many as it may.
    package var connectionsRefused = 0
    /// Connections that were ended because their peers had disconnected.
    package var connectionsDisconnected = 0
    /// Requests that wait for the handler.
    package var suspended = 0
    /// How often each time was used up.
    package var deadlines: [Deadline: Int] = [:]
}
