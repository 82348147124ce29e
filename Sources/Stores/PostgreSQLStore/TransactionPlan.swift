import PostgreSQL
import Tasks

/// Writes that wait together, put in the order in which one transaction does them.
///
/// Owners come in the order of their names, and before anything else of an owner its row of `owners` is locked: so
/// transactions of many servers wait for each other in one direction, and no deadlock is made.
struct TransactionPlan {
    private(set) var steps: [any WriteStep] = []
    private let isProbing: Bool

    /// Puts writes in order; with `isProbing` a look at the database writes as an addition does.
    init(_ writes: [QueuedWrite], isProbing: Bool) {
        self.isProbing = isProbing
        var byOwner: [Owner: [QueuedWrite]] = [:]
        for write in writes { byOwner[write.request.owner, default: []].append(write) }
        let owners = byOwner.keys.sorted { $0.identifier.utf8.lexicographicallyPrecedes($1.identifier.utf8) }
        for owner in owners { plan(byOwner[owner] ?? [], of: owner) }
    }

    private mutating func plan(_ writes: [QueuedWrite], of owner: Owner) {
        var additions: [QueuedWrite] = []
        var others: [QueuedWrite] = []
        for write in writes {
            if case .add(let new, _, _) = write.request, new.attempt == nil {
                if write.isApart {
                    steps.append(AdditionStep([write], of: owner))
                } else {
                    additions.append(write)
                }
            } else {
                others.append(write)
            }
        }
        if !additions.isEmpty { steps.append(AdditionStep(additions, of: owner)) }
        for (index, write) in others.enumerated() {
            // Not by the additions: where there was no room they have locked nothing.
            append(write, of: owner, isLocked: index > 0)
        }
    }

    private mutating func append(_ write: QueuedWrite, of owner: Owner, isLocked: Bool) {
        let name = Parameter.text(owner.identifier)
        switch write.request {
        case .add(let new, _, let reply):
            guard let key = new.attempt else { return }
            steps.append(KeyedAdditionStep(write, new, key, reply, of: owner))
        case .change(let alteration, _, let reply):
            if !isLocked { steps.append(LockStep(owner)) }
            steps.append(AlterationStep(write, alteration, reply, of: owner))
        case .remove(let id, _, let reply):
            if !isLocked { steps.append(LockStep(owner)) }
            steps.append(
                RemovalStep(write, TaskCall(statement: .remove, parameters: [name, .integer(id)])) { count in
                    reply.answer(.success(count > 0))
                })
        case .removeAll(let text, _, let reply):
            if !isLocked { steps.append(LockStep(owner)) }
            steps.append(
                RemovalStep(write, TaskCall(statement: .removeText, parameters: [name, .text(text.value)])) { count in
                    reply.answer(.success(Int(count)))
                })
        case .touch(let reply):
            steps.append(ProbeStep(write, isWriting: isProbing) { reply.answer(.success(())) })
        }
    }
}

/// A look at the database, by an owner that no token can have; leaves no trace.
private final class ProbeStep: WriteStep {
    let writes: [QueuedWrite]
    let calls: [TaskCall]
    private let give: () -> Void

    init(_ write: QueuedWrite, isWriting: Bool, _ give: @escaping () -> Void) {
        writes = [write]
        self.give = give
        let name = Parameter.text(write.request.owner.identifier)
        // The lock finds no row, but a server that only reads refuses it.
        calls =
            isWriting
            ? [
                TaskCall(statement: .probe, parameters: [name]),
                TaskCall(statement: .remove, parameters: [name, .integer(0)]),
            ] : [TaskCall(statement: .lockOwner, parameters: [name])]
    }

    func take(_ rows: borrowing Rows, ofCall index: Int) {}

    func answer() -> [QueuedWrite] {
        give()
        return []
    }
}

/// Locks an owner's row.
private final class LockStep: WriteStep {
    let writes: [QueuedWrite] = []
    let calls: [TaskCall]

    init(_ owner: Owner) {
        calls = [TaskCall(statement: .lockOwner, parameters: [.text(owner.identifier)])]
    }

    func take(_ rows: borrowing Rows, ofCall index: Int) {}

    func answer() -> [QueuedWrite] { [] }
}
