package import Basics
package import Platform
package import TaskArchive
import Tasks

/// An open database in which people get another owner.
package struct OwnerMover {
    private let tables: any OwnerTables
    /// The number of pairs that are looked up at a time.
    private static let pageSize = 500

    package init(_ database: TaskDatabase, onlyReads: Bool) throws(OperatorError) {
        tables = try database.open(for: onlyReads ? .read : .change)
    }

    /// Finds out what ``move(_:merging:shouldContinue:)`` would do now; changes nothing.
    package func plan(_ map: OwnerMap, merging: Bool) throws(OperatorError) -> MoveReport {
        try report(on: map, { _ in true }) { (entry, old, new) throws(OperatorError) in
            let move = try rethrowing(as: OperatorError.init) { () throws(ForeignValue) in
                try OwnerMove(old, to: new, merging: merging)
            }
            guard entry.followsAnother, case .moved(let tasks, _, _) = move.outcome else { return move.outcome }
            // An earlier pair may have brought tasks by then.
            return .moved(tasks: tasks, hasNewIDs: true, isMerged: true)
        }
    }

    /// Gives everything of each old owner to the new one: tasks, idempotency keys, and ids that are not given again.
    ///
    /// Each person is moved in one transaction, in the order of the map. A move that ended early, for whatever reason,
    /// is continued by repeating it. With `merging`, tasks are put after the new owner's tasks; otherwise their people
    /// stay. `shouldContinue` is called before each person with the number of people before; false ends the move.
    package func move(
        _ map: OwnerMap, merging: Bool, shouldContinue: (Int) -> Bool
    ) throws(OperatorError) -> MoveReport {
        try report(on: map, shouldContinue) { (entry, _, _) throws(OperatorError) in
            var outcome = MoveOutcome.nothing
            try tables.move(entry.pair.old, to: entry.pair.new, expiry: IdempotencyKey.expiry) {
                (old, new) throws(ForeignValue) in
                let move = try OwnerMove(old, to: new, merging: merging)
                outcome = move.outcome
                return move.rewrite
            }
            return outcome
        }
    }

    /// Reports an outcome for each pair whose old owner the database knows; the others have nothing to move.
    private func report(
        on map: OwnerMap, _ shouldContinue: (Int) -> Bool,
        _ outcome: (OwnerMap.Entry, OwnerState, _ new: OwnerState) throws(OperatorError) -> MoveOutcome
    ) throws(OperatorError) -> MoveReport {
        var report = MoveReport()
        for start in stride(from: 0, to: map.count, by: Self.pageSize) {
            let entries = map.entries[start...].prefix(Self.pageSize)
            let owners = entries.flatMap { [$0.pair.old, $0.pair.new] }
            // Keys that are expired now do not count, because a move removes them first.
            let states = try tables.states(of: owners, expiry: IdempotencyKey.expiry)
            for entry in entries {
                guard shouldContinue(report.pairs) else { return report }
                let new = states[entry.pair.new] ?? OwnerState()
                let old = states[entry.pair.old]
                let done: MoveOutcome = if let old { try outcome(entry, old, new) } else { .nothing }
                report.add(done, of: entry)
            }
        }
        report.isWhole = true
        return report
    }

    /// Finds the owners with tasks whom the map does not name; each is also given to `output`, without a line's end.
    package func unmapped(_ map: OwnerMap, to output: LineOutput) throws(OperatorError) -> UnmappedOwners {
        var unmapped = UnmappedOwners()
        let left = map.namespaces.old
        var position = Owner("")
        while true {
            let page = try tables.ownersWithTasks(after: position)
            guard let last = page.last else { return unmapped }
            position = last.owner
            for (owner, tasks) in page where !map.mentions(owner) {
                try rethrowing(as: OperatorError.init) { () throws(SystemError) in
                    try output(Array(owner.identifier.utf8))
                }
                let name = owner.namespace ?? ""
                if left[name] != nil {
                    unmapped.sample.append(UnmappedOwners.Known(owner: owner, tasks: tasks))
                } else {
                    unmapped.elsewhere[name, default: 0] += 1
                }
            }
        }
    }
}
