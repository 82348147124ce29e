import Tasks

/// The outcome of a move.
enum MoveOutcome: Equatable {
    /// There were no tasks to move.
    case nothing
    /// Both owners have tasks, and their lists are not to be put together: nothing was changed.
    case conflict(old: Int64, new: Int64)
    case moved(tasks: Int64, hasNewIDs: Bool, isMerged: Bool)
}

/// The decision about an owner's tasks, keys and ids.
///
/// Ids stay, unless the new owner has given one of them already, also to a task that is gone: then all are raised by
/// the last one given. Idempotency keys keep naming their tasks.
struct OwnerMove {
    /// The outcome once the move is committed.
    let outcome: MoveOutcome
    /// Ids are raised by `offset`, and the new owner's next id is then `next`; nil if nothing is to be written.
    let rewrite: OwnerRewrite?

    init(_ old: OwnerState, to new: OwnerState, merging: Bool) throws(ForeignValue) {
        guard merging || old.tasks == 0 || new.tasks == 0 else {
            (outcome, rewrite) = (.conflict(old: old.tasks, new: new.tasks), nil)
            return
        }
        guard let first = old.first else {
            // The new owner does not give again the ids that the old owner has given.
            (outcome, rewrite) = (.nothing, new.next >= old.next ? nil : (offset: 0, next: old.next))
            return
        }
        let offset = first < new.next ? new.next - 1 : 0
        let next = max(new.next, old.next + offset)
        guard next.isNextID else { throw .lastID }
        rewrite = (offset, next)
        let moved = MoveOutcome.moved(tasks: old.tasks, hasNewIDs: offset > 0, isMerged: new.tasks > 0)
        outcome = old.tasks > 0 ? moved : .nothing
    }
}
