package import Basics
import JSON
package import Platform
import TaskArchive
package import Tasks

extension OwnerTables {
    /// Finds out what ``move(_:merging:shouldContinue:)`` would do now; changes nothing.
    package func plan(_ map: OwnerMap, merging: Bool) throws(OperatorError) -> MoveReport {
        // What earlier lines bring to the new owners, of which only a merge has several lines.
        var planned: [Owner: OwnerState] = [:]
        return try report(on: map, { _ in true }) { (pair, old, new) throws(Failure) in
            let move = try decide(old, planned[pair.new] ?? new, merging: merging)
            if merging { planned[pair.new] = move.result }
            return move.outcome
        }
    }

    /// Gives everything of each old owner to the new one: tasks, idempotency keys, and ids that are not given again.
    ///
    /// Each person is moved in one transaction, in the order of the map. A move that ended early, for whatever reason,
    /// is continued by repeating it. With `merging`, tasks are put after the new owner's tasks; otherwise their people
    /// stay. If a deletion of the old owner is unfinished, the move finishes it first. `shouldContinue` is called before
    /// each person with the number of people before that person; if it returns false, the move ends.
    package func move(
        _ map: OwnerMap, merging: Bool, shouldContinue: (Int) -> Bool
    ) throws(OperatorError) -> MoveReport {
        try report(on: map, shouldContinue) { (pair, _, _) throws(Failure) in
            try transaction(locking: [pair.old, pair.new]) { () throws(Failure) in
                let old = try state(of: pair.old) ?? OwnerState()
                let new = try state(of: pair.new) ?? OwnerState()
                let move = try decide(old, new, merging: merging)
                guard let offset = move.offset else { return move.outcome }
                let now = SystemTime().wallMilliseconds
                if old.isBeingDeleted {
                    while try run([RemoveOwner(owner: pair.old, issued: .min, time: now)]) == [true] {}
                }
                let ids = try copy(pair.old, to: pair.new, raisingIDsBy: offset)
                _ = try run([EmptyOwner(pair.old, ofTasks: ids, at: now)])
                return move.outcome
            }
        }
    }

    private func decide(_ old: OwnerState, _ new: OwnerState, merging: Bool) throws(Failure) -> OwnerMove {
        try rethrowing(as: Failure.init) { () throws(ForeignValue) in try OwnerMove(old, to: new, merging: merging) }
    }

    /// Reports an outcome for each pair whose old owner the database knows; the others have nothing to move.
    private func report(
        on map: OwnerMap, _ shouldContinue: (Int) -> Bool,
        _ outcome: (OwnerPair, OwnerState, _ new: OwnerState) throws(Failure) -> MoveOutcome
    ) throws(OperatorError) -> MoveReport {
        var report = MoveReport()
        for entry in map.entries {
            guard shouldContinue(report.pairs) else { return report }
            let done = try rethrowing(as: { Self.operatorError($0).inLine(of: entry) }) { () throws(Failure) in
                let new = try state(of: entry.pair.new) ?? OwnerState()
                guard let old = try state(of: entry.pair.old) else { return MoveOutcome.nothing }
                return try outcome(entry.pair, old, new)
            }
            report.add(done, of: entry)
        }
        report.isWhole = true
        return report
    }

    /// The state of an owner; nil if the database does not know the owner.
    ///
    /// With Citus, two owners may be on different servers, so each is read alone.
    private func state(of owner: Owner) throws(Failure) -> OwnerState? {
        let left = "(SELECT count(*) FROM tasks WHERE tasks.owner = $1 AND id < first_id)"
        let firstTask = "(SELECT min(id) FROM tasks WHERE tasks.owner = $1 AND (deleted IS NULL OR id >= first_id))"
        let firstKey = "(SELECT min(id) FROM attempts WHERE attempts.owner = $1 AND +time > $2)"
        let name = JSONValue.string(owner.identifier)
        let state = try rows(
            [
                .integer("next_id"), .integer("tasks"), .integer(firstTask), .integer(firstKey),
                .integer("CASE WHEN deleted IS NULL THEN 0 ELSE \(left) END"),
            ], "FROM owners WHERE owner = $1", [name, .integer(IdempotencyKey.expiry)]
        ) { value throws(ForeignValue) in
            let left = value(4).integer ?? 0
            let counts = try OwnerCounts(storedNext: value(0).integer ?? 0, tasks: (value(1).integer ?? 0) &- left)
            let ids = [value(2), value(3)].compactMap(\.integer)
            guard ids.allSatisfy(\.isTaskNumber) else { throw .number }
            return OwnerState(counts: counts, first: ids.min(), isBeingDeleted: left > 0)
        }.first
        guard state == nil else { return state }
        // A server may have added the owner with a task since then; this statement sees both or neither.
        let isUnknown = "NOT EXISTS (SELECT 1 FROM owners WHERE owners.owner = $1)"
        let lost = try rows([.integer("id")], "FROM tasks WHERE owner = $1 AND \(isUnknown) LIMIT 1", [name]) { $0(0) }
        guard lost.isEmpty else { throw Failure(.lostOwners) }
        return nil
    }

    /// Finds the owners with tasks whom the map does not name; each is also given to `output`, without a line's end.
    package func unmapped(_ map: OwnerMap, to output: LineOutput) throws(OperatorError) -> UnmappedOwners {
        var unmapped = UnmappedOwners()
        let left = map.namespaces.old
        var position = Owner("")
        while true {
            let page = try translating { () throws(Failure) in try owners(in: .after(position)) }
            guard let last = page.last else { return unmapped }
            position = last.owner
            for (owner, counts) in page where counts.tasks > 0 && !map.mentions(owner) {
                try rethrowing(as: OperatorError.init) { () throws(SystemError) in
                    try output(Array(owner.identifier.utf8))
                }
                let name = owner.namespace ?? ""
                if left[name] != nil {
                    unmapped.sample.append(UnmappedOwners.Known(owner: owner, tasks: counts.tasks))
                } else {
                    unmapped.elsewhere[name, default: 0] += 1
                }
            }
        }
    }
}

extension OperatorError {
    /// Returns the same error with the line of the map that was moved or planned when it occurred.
    fileprivate func inLine(of entry: OwnerMap.Entry) -> OperatorError {
        let line = "line \(entry.number) of the map (\(entry.pair.old.identifier) to \(entry.pair.new.identifier))"
        return OperatorError("\(line): \(failure)", exitStatus, advice: advice)
    }
}
