import Basics
import Tasks

/// A database in which owners are moved.
protocol OwnerDatabase {
    /// What it has of these owners; nothing of those it does not know.
    ///
    /// Keys that are expired now count for nothing: a move removes them first.
    func states(of owners: [Owner]) throws(OperatorError) -> [Owner: OwnerState]

    /// The next owners with tasks in byte order, and how many tasks they have; none at the end.
    func ownersWithTasks(after owner: Owner) throws(OperatorError) -> [(owner: Owner, tasks: Int64)]

    /// Moves everything of an owner in one transaction; see ``OwnerMove``.
    func move(_ pair: OwnerPair, merging: Bool) throws(OperatorError) -> MoveOutcome
}

/// What a database has of an owner.
struct OwnerState: Equatable {
    /// The next id.
    var next: Int64 = 1
    /// How many tasks.
    var tasks: Int64 = 0
    /// The least id of a task or an idempotency key; nil without any.
    var first: Int64?

    /// Of an owner whom the database does not know.
    init() {}

    /// What was stored.
    init(storedNext next: Int64, tasks: Int64, first: Int64?) throws(ForeignValue) {
        let counts = try OwnerCounts(storedNext: next, tasks: tasks)
        guard first?.isTaskNumber ?? true else { throw .number }
        (self.next, self.tasks, self.first) = (counts.next, counts.tasks, first)
    }
}

/// What a move has done.
enum MoveOutcome: Equatable {
    /// There were no tasks to move.
    case nothing
    /// Both owners have tasks, and their lists are not to be put together: nothing was changed.
    case conflict(old: Int64, new: Int64)
    case moved(tasks: Int64, hasNewIDs: Bool, isMerged: Bool)
}

/// What to do with an owner's tasks, keys and ids: values in, a value out.
///
/// Ids stay, unless the new owner has given one of them already, also to a task that is gone: then all are raised by the
/// last one given, so that their order stays. Idempotency keys keep naming their tasks.
enum OwnerMove: Equatable {
    /// There is nothing that the new owner lacks.
    case nothing
    case conflict(old: Int64, new: Int64)
    /// Ids are raised by `offset`, and the new owner's next id is then `next`.
    case rewrite(offset: Int64, next: Int64)

    init(_ old: OwnerState, to new: OwnerState, merging: Bool) throws(ForeignValue) {
        guard merging || old.tasks == 0 || new.tasks == 0 else {
            self = .conflict(old: old.tasks, new: new.tasks)
            return
        }
        guard let first = old.first else {
            // Ids that were given are not given again by the new owner, either.
            self = new.next >= old.next ? .nothing : .rewrite(offset: 0, next: old.next)
            return
        }
        let offset = first < new.next ? new.next - 1 : 0
        let next = max(new.next, old.next + offset)
        guard next.isNextID else { throw .lastID }
        self = .rewrite(offset: offset, next: next)
    }

    /// What was done when it is committed.
    func outcome(_ old: OwnerState, _ new: OwnerState) -> MoveOutcome {
        switch self {
        case .conflict(let old, let new): .conflict(old: old, new: new)
        case .rewrite(let offset, _) where old.tasks > 0:
            .moved(tasks: old.tasks, hasNewIDs: offset > 0, isMerged: new.tasks > 0)
        case .nothing, .rewrite: .nothing
        }
    }
}
