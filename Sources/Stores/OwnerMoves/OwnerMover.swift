import Basics
package import Platform
import PostgreSQL
import PostgreSQLStore
import SQLiteStore
import Tasks

/// A database in which people get another owner, also while servers use it.
package protocol OwnerMover: Sendable {
    /// What ``move(_:merging:shouldContinue:)`` would do now; changes nothing.
    func plan(_ map: borrowing OwnerMap, merging: Bool) throws(OwnerMoveError) -> MoveReport

    /// The owners with tasks whom the map does not name; each is also given to `output`, without a line's end.
    func unmapped(
        _ map: borrowing OwnerMap, to output: LineOutput
    ) throws(OwnerMoveError) -> UnmappedOwners

    /// Gives everything of each old owner to the new one: tasks, idempotency keys, and the ids that are not given again.
    ///
    /// Each person is moved in one transaction, in the order of the map. A move that ended early, for whatever reason, is
    /// continued by repeating it. A list that a server answers after the commit is that after the move.
    ///
    /// - Parameters:
    ///   - map: whom to move.
    ///   - merging: whether tasks are put after those that the new owner has; otherwise their people stay.
    ///   - shouldContinue: called before each person with how many were looked at; false ends the move.
    /// - Returns: what was done.
    /// - Throws: ``OwnerMoveError``; who was moved until then is moved.
    func move(
        _ map: borrowing OwnerMap, merging: Bool, shouldContinue: (Int) -> Bool
    ) throws(OwnerMoveError) -> MoveReport
}

/// Moves owners in a SQLite file.
package struct SQLiteOwnerMover: OwnerMover {
    private let file: SQLiteFile

    /// The database at this path.
    package init(path: String) {
        file = SQLiteFile(path)
    }

    package func plan(_ map: borrowing OwnerMap, merging: Bool) throws(OwnerMoveError) -> MoveReport {
        try SQLiteOwnerDatabase.reading(file).plan(map, merging: merging)
    }

    package func unmapped(
        _ map: borrowing OwnerMap, to output: LineOutput
    ) throws(OwnerMoveError) -> UnmappedOwners {
        try SQLiteOwnerDatabase.reading(file).unmapped(map, to: output)
    }

    package func move(
        _ map: borrowing OwnerMap, merging: Bool, shouldContinue: (Int) -> Bool
    ) throws(OwnerMoveError) -> MoveReport {
        // A database that is missing, or of another version, is reported before its server is asked for anything.
        _ = try SQLiteOwnerDatabase.reading(file)
        let path = file.path
        let pause = try rethrowing(as: { OwnerMoveError.noPause($0, path: path) }) {
            () throws(CachePause.Failure) in try CachePause.begin(on: file)
        }
        let database = try SQLiteOwnerDatabase.writing(file, during: pause)
        return try database.move(map, merging: merging, shouldContinue: shouldContinue)
    }
}

/// Moves owners in a PostgreSQL database.
package struct PostgreSQLOwnerMover: OwnerMover {
    private let connectionString: String

    /// The database of a connection string of libpq.
    package init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    package func plan(_ map: borrowing OwnerMap, merging: Bool) throws(OwnerMoveError) -> MoveReport {
        try open(onlyReads: true).plan(map, merging: merging)
    }

    package func unmapped(
        _ map: borrowing OwnerMap, to output: LineOutput
    ) throws(OwnerMoveError) -> UnmappedOwners {
        try open(onlyReads: true).unmapped(map, to: output)
    }

    package func move(
        _ map: borrowing OwnerMap, merging: Bool, shouldContinue: (Int) -> Bool
    ) throws(OwnerMoveError) -> MoveReport {
        try open(onlyReads: false).move(map, merging: merging, shouldContinue: shouldContinue)
    }

    private func open(onlyReads: Bool) throws(OwnerMoveError) -> PostgreSQLOwnerDatabase {
        let database = try rethrowing(as: OwnerMoveError.database) { () throws(StoreOpenError) in
            try PostgreSQLDatabase(connectionString, onlyReads: onlyReads)
        }
        let (connection, isForeign) = try rethrowing(as: OwnerMoveError.database) { () throws(StoreOpenError) in
            let connection = try database.connectUpToDate(
                ifMissing: "start it once, or run `task-server migrate`")
            let isForeign = try database.translating { () throws(PostgreSQLError) in
                try PostgreSQLSchema.isForeign(on: connection)
            }
            return (connection, isForeign)
        }
        guard onlyReads || !isForeign else { throw .foreignTables(database: database.name) }
        return PostgreSQLOwnerDatabase(connection: connection)
    }
}

extension OwnerDatabase where Self: ~Copyable {
    borrowing func plan(_ map: borrowing OwnerMap, merging: Bool) throws(OwnerMoveError) -> MoveReport {
        var report = MoveReport()
        var number = 0
        while true {
            let entries = try map.entries(after: number)
            guard let last = entries.last else { break }
            number = last.number
            let states = try states(of: entries.flatMap { [$0.pair.old, $0.pair.new] })
            for entry in entries {
                report.add(try Self.foreseen(entry, states[entry.pair.old], states[entry.pair.new], merging), of: entry)
            }
        }
        report.isWhole = true
        return report
    }

    private static func foreseen(
        _ entry: OwnerMap.Entry, _ old: OwnerState?, _ new: OwnerState?, _ merging: Bool
    ) throws(OwnerMoveError) -> MoveOutcome {
        guard let old else { return .nothing }
        let new = new ?? OwnerState()
        let move = try rethrowing(as: OwnerMoveError.init) { () throws(ForeignValue) in
            try OwnerMove(old, to: new, merging: merging)
        }
        let outcome = move.outcome(old, new)
        guard entry.followsAnother, case .moved(let tasks, _, _) = outcome else { return outcome }
        // An earlier pair may have brought tasks by then.
        return .moved(tasks: tasks, hasNewIDs: true, isMerged: true)
    }

    borrowing func move(
        _ map: borrowing OwnerMap, merging: Bool, shouldContinue: (Int) -> Bool
    ) throws(OwnerMoveError) -> MoveReport {
        var report = MoveReport()
        var number = 0
        while true {
            let entries = try map.entries(after: number)
            guard let last = entries.last else { break }
            number = last.number
            // Who is not known needs no transaction.
            let known = try states(of: entries.map(\.pair.old))
            for entry in entries {
                guard shouldContinue(report.pairs) else { return report }
                let outcome = known[entry.pair.old] == nil ? .nothing : try move(entry.pair, merging: merging)
                report.add(outcome, of: entry)
            }
        }
        report.isWhole = true
        return report
    }

    borrowing func unmapped(
        _ map: borrowing OwnerMap, to output: LineOutput
    ) throws(OwnerMoveError) -> UnmappedOwners {
        var unmapped = UnmappedOwners()
        var isMovedFrom: [String: Bool] = [:]
        var position = Owner("")
        while true {
            let page = try ownersWithTasks(after: position)
            guard let last = page.last else { return unmapped }
            position = last.owner
            for (owner, tasks) in page where try !map.mentions(owner) {
                try rethrowing(as: OwnerMoveError.file) { () throws(SystemError) in
                    try output(Array(owner.identifier.utf8))
                }
                let name = owner.namespace ?? ""
                if isMovedFrom[name] == nil {
                    isMovedFrom[name] = try name.isEmpty ? map.movesBareOwners : map.moves(from: name)
                }
                if isMovedFrom[name] == true {
                    unmapped.sample.append(UnmappedOwners.Known(owner: owner, tasks: tasks))
                } else {
                    unmapped.elsewhere[name, default: 0] += 1
                }
            }
        }
    }
}
