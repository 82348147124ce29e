/// The state of a server at one moment.
package struct ServerStatistics: Sendable, Equatable {
    package var connections = 0
    /// The connections that were ever opened.
    package var connectionsOpened = 0
    /// The connections that were closed at once because their address had as many as are allowed.
    package var connectionsRefused = 0
    /// The connections that were ended because their peers had disconnected.
    package var connectionsDisconnected = 0
    /// The requests that wait for the handler.
    package var suspended = 0
    /// How often each deadline has passed.
    package var deadlines: [Deadline: Int] = [:]
}
