package import Basics
import JSON
package import Tasks

/// The removal of everything that a database has of one owner.
extension TaskTables {
    /// How many tasks and idempotency keys there are of an owner; nil if the database does not know the owner.
    package func contents(of owner: Owner) throws(OperatorError) -> (tasks: Int64, keys: Int64)? {
        let rows = try rethrowing(as: \.forOperator) { () throws(Failure) in
            try run(
                "SELECT tasks, (SELECT count(*) FROM attempts WHERE owner = ?1) FROM owners WHERE owner = ?1",
                [.string(owner.identifier)], giving: [.integer("tasks"), .integer("keys")])
        }
        return rows.first.map { ($0[0].integer ?? 0, $0[1].integer ?? 0) }
    }

    /// Removes everything of an owner as ``Tasks/RemoveOwner`` does; a removal that ended early is continued by repeating it.
    ///
    /// The time of the deletion is in milliseconds since 1970, UTC.
    package func remove(_ owner: Owner, at time: Int64) throws(OperatorError) {
        let name = JSONValue.string(owner.identifier)
        try change(name) { () throws(Failure) in
            _ = try run(
                """
                UPDATE owners SET deleted = ?2, first_id = next_id, change = change + 1, origin = \(Self.newOrigin)
                WHERE owner = ?1
                """, [name, .integer(time)], giving: [])
        }
        // Servers may go on meanwhile, and new tokens may add.
        let isOld = "owner = ?1 AND id < (SELECT first_id FROM owners WHERE owner = ?1)"
        var count = Int64(RemoveTasks.most)
        while count == RemoveTasks.most {
            try change(name) { () throws(Failure) in
                count = Int64(
                    try run(
                        """
                        DELETE FROM tasks WHERE owner = ?1 AND id IN
                            (SELECT id FROM tasks WHERE \(isOld) ORDER BY id LIMIT \(RemoveTasks.most)) RETURNING owner
                        """, [name], giving: [.text("owner")]
                    ).count)
                _ = try run(
                    "UPDATE owners SET tasks = tasks - ?2 WHERE owner = ?1", [name, .integer(count)], giving: [])
            }
        }
        try change(name) { () throws(Failure) in
            _ = try run("DELETE FROM attempts WHERE \(isOld)", [name], giving: [])
            _ = try run("DELETE FROM removed_tasks WHERE owner = ?1", [name], giving: [])
        }
    }

    /// Runs a body in a transaction that holds the row of the owner.
    private func change(_ owner: JSONValue, _ body: () throws(Failure) -> Void) throws(OperatorError) {
        try rethrowing(as: \.forOperator) { () throws(Failure) in
            try transaction { () throws(Failure) in
                _ = try run(
                    "SELECT owner FROM owners WHERE owner = ?1 \(Self.forUpdate)", [owner], giving: [.text("owner")])
                try body()
            }
        }
    }
}

extension OperatorError {
    /// Nothing was ever stored of an owner, or everything was removed long ago.
    package static func unknownOwner(_ owner: Owner) -> OperatorError {
        OperatorError(
            "the database knows no owner \(owner.identifier)",
            advice: "an owner is the oid of the person's tokens, after the name of the source if that has one (ext:ID)")
    }
}
