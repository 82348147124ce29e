package import Basics
import JSON
import Platform
import SQLite
import SQLiteStore

extension SQLiteTables {
    /// Writes the present state into a new database file, which appears whole, and on the disk, or not at all.
    package func backup(to target: String) throws(OperatorError) {
        guard !File.exists(target) else {
            throw OperatorError("\(target) exists, and is not replaced", advice: "give another name or move it away")
        }
        let partial = target + ".partial"
        File.remove(partial)
        do throws(OperatorError) {
            // Created first, because SQLite would let every user read it.
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try File.createIfMissing(partial) }
            try rethrowing(as: OperatorError.init) { () throws(SQLiteError) in
                _ = try run("VACUUM INTO ?1", [.string(partial)], giving: [])
            }
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try File.publish(partial, as: target) }
        } catch {
            File.remove(partial)
            throw error
        }
    }
}
