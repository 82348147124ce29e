import Basics
package import Platform
import SQLite
import Tasks

/// A map of owners without contradictions: no one is moved twice, and no one is moved to an owner who is moved as well.
///
/// It is kept in a file that SQLite makes and removes, so that a map of millions takes little memory.
package struct OwnerMap: ~Copyable {
    private let page: Statement
    private let mention: Statement
    private let namespace: Statement
    private let connection: Connection
    /// What numbers of pairs count: lines of the map, or users of an audit file.
    package let unit: String
    /// How many pairs it has.
    package let count: Int
    /// Whether an old owner has no namespace.
    let movesBareOwners: Bool
    /// The namespaces of the new owners, each with the number of its first pair; an empty name for those without one.
    package let newNamespaces: [String: Int]

    /// A pair and its number.
    struct Entry {
        let number: Int
        let pair: OwnerPair
        /// Whether an earlier pair has the same new owner.
        let followsAnother: Bool
    }

    /// Reads and checks a map; `merging` allows several old owners for one new one.
    ///
    /// - Throws: ``OwnerMoveError/map(_:)`` with every mistake.
    package static func read(_ nextLine: LineInput, merging: Bool) throws(OwnerMoveError) -> OwnerMap {
        let connection = try rethrowing(as: OwnerMoveError.init) { () throws(SQLiteError) in try emptyTable() }
        var reader = OwnerMapReader()
        let (count, movesBareOwners, newNamespaces) = try load(&reader, nextLine, into: connection)
        try rethrowing(as: OwnerMoveError.init) { () throws(SQLiteError) in
            try refuseContradictions(in: connection, merging: merging, &reader)
        }
        guard reader.faults.count == 0 else { throw .map(reader.faults) }
        // No closure: that could not consume the connection.
        do throws(SQLiteError) {
            return try compiled(
                on: connection, reader.unit, count, movesBareOwners: movesBareOwners, newNamespaces: newNamespaces)
        } catch {
            throw OwnerMoveError(error)
        }
    }

    private static func emptyTable() throws(SQLiteError) -> Connection {
        let connection = try Connection(path: "", mode: .readWriteCreate)
        try connection.execute(
            """
            PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
            CREATE TABLE pairs(number INTEGER PRIMARY KEY, old TEXT NOT NULL, new TEXT NOT NULL)
            """)
        return connection
    }

    /// Puts the pairs into the table; how many these are, and what the map keeps of their namespaces.
    private static func load(
        _ reader: inout OwnerMapReader, _ nextLine: LineInput, into connection: borrowing Connection
    ) throws(OwnerMoveError) -> (count: Int, movesBareOwners: Bool, newNamespaces: [String: Int]) {
        let insert = try rethrowing(as: OwnerMoveError.init) { () throws(SQLiteError) in
            try connection.prepare("INSERT INTO pairs VALUES (?1, ?2, ?3)")
        }
        var (count, movesBareOwners) = (0, false)
        var newNamespaces: [String: Int] = [:]
        while let pair = try reader.next(nextLine) {
            count += 1
            if pair.old.namespace == nil { movesBareOwners = true }
            let name = pair.new.namespace ?? ""
            if newNamespaces[name] == nil { newNamespaces[name] = reader.number }
            let number = Int64(reader.number)
            try rethrowing(as: OwnerMoveError.init) { () throws(SQLiteError) in
                try insert.run(number, pair.old.identifier, pair.new.identifier)
            }
        }
        return (count, movesBareOwners, newNamespaces)
    }

    private static func refuseContradictions(
        in connection: borrowing Connection, merging: Bool, _ reader: inout OwnerMapReader
    ) throws(SQLiteError) {
        try connection.execute("CREATE INDEX by_old ON pairs(old, number); CREATE INDEX by_new ON pairs(new, number)")
        let unit = reader.unit
        func earlier(_ column: String) -> String {
            "SELECT number, lag(number) OVER (PARTITION BY \(column) ORDER BY number) AS other FROM pairs"
        }
        try refuse(connection, earlier("old"), &reader) { "the old owner of \(unit) \($0) again" }
        try refuse(
            connection, "SELECT p.number, next.number AS other FROM pairs AS p JOIN pairs AS next ON next.old = p.new",
            &reader
        ) {
            "its new owner is the old owner of \(unit) \($0): no one can be moved on in the same map"
        }
        guard !merging else { return }
        try refuse(connection, earlier("new"), &reader) {
            "the new owner of \(unit) \($0) again: their lists are put together only with --merge"
        }
    }

    /// A mistake for each row: the number of a pair, and of the one that it contradicts.
    private static func refuse(
        _ connection: borrowing Connection, _ sql: String, _ reader: inout OwnerMapReader, _ reason: (Int64) -> String
    ) throws(SQLiteError) {
        let rows = try connection.prepare("SELECT number, other FROM (\(sql)) WHERE other IS NOT NULL ORDER BY number")
        while try rows.step() { reader.refuse(Int(rows.integer(0)), reason(rows.integer(1))) }
    }

    private static func compiled(
        on connection: consuming Connection, _ unit: String, _ count: Int, movesBareOwners: Bool,
        newNamespaces: [String: Int]
    ) throws(SQLiteError) -> OwnerMap {
        OwnerMap(
            page: try connection.prepare(
                """
                SELECT number, old, new, EXISTS (
                    SELECT 1 FROM pairs AS earlier WHERE earlier.new = pairs.new AND earlier.number < pairs.number)
                FROM pairs WHERE number > ?1 ORDER BY number LIMIT 500
                """),
            mention: try connection.prepare(
                "SELECT EXISTS (SELECT 1 FROM pairs WHERE old = ?1) OR EXISTS (SELECT 1 FROM pairs WHERE new = ?1)"),
            namespace: try connection.prepare("SELECT EXISTS (SELECT 1 FROM pairs WHERE old >= ?1 AND old < ?2)"),
            connection: connection, unit: unit, count: count,
            movesBareOwners: movesBareOwners, newNamespaces: newNamespaces)
    }
}

extension OwnerMap {
    /// The next pairs by number; none at the end.
    borrowing func entries(after number: Int) throws(OwnerMoveError) -> [Entry] {
        try rethrowing(as: OwnerMoveError.init) { () throws(SQLiteError) in
            defer { page.reset() }
            try page.bind(Int64(number))
            var entries: [Entry] = []
            while try page.step() {
                let pair = OwnerPair(stored: Owner(page.text(1)), Owner(page.text(2)))
                entries.append(
                    Entry(number: Int(page.integer(0)), pair: pair, followsAnother: page.integer(3) != 0))
            }
            return entries
        }
    }

    /// Whether a pair names this owner, as the old one or the new one.
    borrowing func mentions(_ owner: Owner) throws(OwnerMoveError) -> Bool {
        try rethrowing(as: OwnerMoveError.init) { () throws(SQLiteError) in
            defer { mention.reset() }
            try mention.bind(owner.identifier)
            return try mention.step() && mention.integer(0) != 0
        }
    }

    /// Whether it moves anyone out of the namespace with this name.
    borrowing func moves(from name: String) throws(OwnerMoveError) -> Bool {
        try rethrowing(as: OwnerMoveError.init) { () throws(SQLiteError) in
            defer { namespace.reset() }
            try namespace.bind("\(name):", "\(name);")
            return try namespace.step() && namespace.integer(0) != 0
        }
    }
}
