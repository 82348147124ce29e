package import Basics
import JSON
package import Tasks

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
}

extension OperatorError {
    /// Nothing was ever stored of an owner, or everything was removed long ago.
    package static func unknownOwner(_ owner: Owner) -> OperatorError {
        OperatorError(
            "the database knows no owner \(owner.identifier)",
            advice: "an owner is the oid of the person's tokens, after the name of the source if that has one (ext:ID)")
    }
}
