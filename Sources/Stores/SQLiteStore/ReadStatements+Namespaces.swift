import SQLite
import Tasks

extension ReadStatements {
    /// See ``TaskStore/ownerNamespaces()``; compiled each time, because it is asked once.
    func ownerNamespaces() throws(SQLiteError) -> OwnerNamespaces {
        let named = try connection.prepare(
            """
            SELECT owner FROM owners INDEXED BY owners_with_colon
            WHERE instr(owner, ':') > 0 AND owner >= ?1 ORDER BY owner LIMIT 1
            """)
        let withTasks = try connection.prepare("SELECT owner FROM tasks WHERE owner >= ?1 ORDER BY owner LIMIT 1")
        var found: [Owner] = []
        // The next owner after all those with the same text before the colon: `;` is the character after it.
        var start = ""
        while let text = try Self.first(named, from: start)?.textBeforeColon {
            let first = try Self.first(withTasks, from: "\(text):")
            if let first, first.identifier.utf8.starts(with: "\(text):".utf8) { found.append(first) }
            start = "\(text);"
        }
        start = ""
        while let owner = try Self.first(withTasks, from: start) {
            found.append(owner)
            guard let text = owner.textBeforeColon else { break }
            start = "\(text);"
        }
        return OwnerNamespaces(found)
    }

    /// The owner in the first row from this one on.
    private static func first(_ statement: borrowing Statement, from start: String) throws(SQLiteError) -> Owner? {
        defer { statement.reset() }
        try statement.bind(start)
        return try statement.step() ? Owner(statement.text(0)) : nil
    }
}
