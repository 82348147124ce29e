import Tasks

/// The state of an owner in a database.
struct OwnerState {
    /// The next id, and the number of tasks without those that a deletion has still to remove.
    var counts = OwnerCounts.none
    /// The least id of these tasks, or of an idempotency key that is remembered; nil without any.
    var first: Int64?
    /// Whether a deletion of the owner has still to remove tasks.
    var isBeingDeleted = false
}

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
    /// The number by which ids are raised; nil if nothing is to be written.
    let offset: Int64?
    /// The state of the new owner afterwards.
    let result: OwnerState

    init(_ old: OwnerState, to new: OwnerState, merging: Bool) throws(ForeignValue) {
        let (tasks, others, next) = (old.counts.tasks, new.counts.tasks, new.counts.next)
        guard merging || tasks == 0 || others == 0 else {
            (outcome, offset, result) = (.conflict(old: tasks, new: others), nil, new)
            return
        }
        // Without tasks, too, the new owner does not give again the ids that the old owner has given.
        let raised = old.first.map { $0 < next ? next - 1 : 0 } ?? 0
        guard (old.counts.next + raised).isNextID else { throw .lastID }
        offset = old.first == nil && next >= old.counts.next ? nil : raised
        outcome = tasks > 0 ? .moved(tasks: tasks, hasNewIDs: raised > 0, isMerged: others > 0) : .nothing
        var result = new
        result.counts = try OwnerCounts(storedNext: max(next, old.counts.next + raised), tasks: tasks + others)
        self.result = result
    }
}
