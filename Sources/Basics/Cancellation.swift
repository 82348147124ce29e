/// Gives up what was begun, on any thread: what has not begun by then does not begin. It does nothing after the end.
package typealias Cancellation = @Sendable () -> Void
