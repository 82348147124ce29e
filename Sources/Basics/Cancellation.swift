/// Gives up a wait, on any thread: what has not begun by then does not begin; after the end of the wait, it does nothing.
package typealias Cancellation = @Sendable () -> Void
