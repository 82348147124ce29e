import Basics
import Platform
import TaskArchive

/// `task-server backup FILE`: a copy of the database, also while a server runs.
func backup(_ storage: StorageSettings, to target: String) throws(OperatorError) -> ExitStatus {
    guard let path = storage.database.path else {
        throw OperatorError(
            "TASKS_DATABASE: only a sqlite:PATH is copied as a file", advice: "for PostgreSQL use pg_dump, or export")
    }
    try SQLiteArchive(path: path).backup(to: target)
    StandardStream.error.print("task-server: the copy is in \(target)")
    return .success
}

extension StorageSettings {
    /// The database as export and import see it.
    func archive() throws(OperatorError) -> any LineArchive {
        switch database {
        case .memory: throw OperatorError("TASKS_DATABASE: there is nothing to copy in memory:")
        case .sqlite(let path): SQLiteArchive(path: path)
        case .postgresql(let address): PostgreSQLArchive(address)
        }
    }
}
