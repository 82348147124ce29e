package import Basics
import JSON
package import Platform
import TaskArchive
package import Tasks

extension OwnerTables {
    /// Finds out what ``move(_:merging:shouldContinue:)`` would do now; changes nothing.
    package func plan(_ map: OwnerMap, merging: Bool) throws(OperatorError) -> MoveReport {
        try report(on: map, { _ in true }) { (entry, old, new) throws(Failure) in
            let outcome = try decide(old, new, merging: merging).outcome
            guard entry.followsAnother, case .moved(let tasks, _, _) = outcome else { return outcome }
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
        try report(on: map, shouldContinue) { (entry, _, _) throws(Failure) in
            let (old, new) = (entry.pair.old, entry.pair.new)
            return try transaction(locking: [old, new]) { () throws(Failure) in
                // One at a time, because Citus may have them on different servers.
                let move = try decide(try states(of: [old])[old], try states(of: [new])[new], merging: merging)
                guard let offset = move.offset else { return move.outcome }
                let ids = try copy(old, to: new, raisingIDsBy: offset)
                _ = try run([EmptyOwner(old, ofTasks: ids, at: SystemTime().wallMilliseconds)])
                return move.outcome
            }
        }
    }

    private func decide(_ old: OwnerState?, _ new: OwnerState?, merging: Bool) throws(Failure) -> OwnerMove {
        try rethrowing(as: Failure.init) { () throws(ForeignValue) in
            try OwnerMove(old ?? OwnerState(), to: new ?? OwnerState(), merging: merging)
        }
    }

    /// Reports an outcome for each pair whose old owner the database knows; the others have nothing to move.
    private func report(
        on map: OwnerMap, _ shouldContinue: (Int) -> Bool,
        _ outcome: (OwnerMap.Entry, OwnerState, _ new: OwnerState?) throws(Failure) -> MoveOutcome
    ) throws(OperatorError) -> MoveReport {
        var report = MoveReport()
        let most = 500
        for start in stride(from: 0, to: map.count, by: most) {
            let entries = map.entries[start...].prefix(most)
            let owners = entries.flatMap { [$0.pair.old, $0.pair.new] }
            let known = try translating { () throws(Failure) in try states(of: owners) }
            for entry in entries {
                guard shouldContinue(report.pairs) else { return report }
                let done = try translating { () throws(Failure) in
                    guard let old = known[entry.pair.old] else { return MoveOutcome.nothing }
                    return try outcome(entry, old, known[entry.pair.new])
                }
                report.add(done, of: entry)
            }
        }
        report.isWhole = true
        return report
    }

    /// The states of the owners whom the database knows.
    private func states(of owners: [Owner]) throws(Failure) -> [Owner: OwnerState] {
        let firstTask = "(SELECT min(id) FROM tasks WHERE tasks.owner = owners.owner)"
        let firstKey = "(SELECT min(id) FROM attempts WHERE attempts.owner = owners.owner AND +time > $1)"
        let names = owners.map { JSONValue.string($0.identifier) }
        // With Citus, a condition with one owner concerns one server.
        let condition = names.count == 1 ? "owner = $2" : Self.condition("owner", isIn: "$2")
        let states = try rows(
            [.text("owner"), .integer("next_id"), .integer("tasks"), .integer(firstTask), .integer(firstKey)],
            "FROM owners WHERE \(condition)",
            [.integer(IdempotencyKey.expiry), names.count == 1 ? names[0] : .array(names)]
        ) { value throws(ForeignValue) in
            let counts = try OwnerCounts(storedNext: value(1).integer ?? 0, tasks: value(2).integer ?? 0)
            let ids = [value(3), value(4)].compactMap(\.integer)
            guard ids.allSatisfy(\.isTaskNumber) else { throw .number }
            return (Owner(value(0).string ?? ""), OwnerState(counts: counts, first: ids.min()))
        }
        return Dictionary(states) { state, _ in state }
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
