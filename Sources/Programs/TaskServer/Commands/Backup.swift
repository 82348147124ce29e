import Basics
import Platform
import TaskArchive

/// `task-server backup FILE`: a copy of the database, also while a server runs.
func backup(_ storage: StorageSettings, to target: String) throws(OperatorError) -> ExitStatus {
    guard let path = storage.database.path else {
        throw OperatorError(
            "TASKS_DATABASE: only a sqlite:PATH is copied as a file", advice: "for PostgreSQL use pg_dump, or export")
    }
    try SQLiteTables(path: path, for: .read).backup(to: target)
    StandardStream.error.print("task-server: the copy is in \(target)")
    return .success
}

extension StorageSettings {
    /// The database as export, import and move-owners see it.
    func taskDatabase() throws(OperatorError) -> TaskDatabase {
        switch database {
        case .memory: throw OperatorError("TASKS_DATABASE: there is nothing to copy or move in memory:")
        case .sqlite(let path): .sqlite(path)
        case .postgresql(let address): .postgreSQL(address)
        }
    }
}
