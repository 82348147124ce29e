/// The reason why a call failed; nothing was changed, unless the case says otherwise.
package enum StoreError: Error, Sendable, Equatable {
    /// The queue is full, or the store is closing: try again.
    case overloaded
    /// The caller has left before the work began; nobody gets the answer.
    case withdrawn
    /// The owner's long answers, or those of all, take all places: try again.
    case noRoomForAnswer
    /// The database is out of reach (a lost connection, a locked file): try again.
    ///
    /// A change may have been made, if the connection was lost before its commit was confirmed.
    case unavailable(reason: String)
    /// The disk is full.
    case full
    /// The owner was deleted after the caller's token was issued.
    case ownerDeleted
    /// Any other failure. The reason is for the log, and holds no text of a task.
    case broken(reason: String)
}
