import Basics
import Platform
import PostgreSQLStore
import SQLiteStore
import TaskArchive
import Tasks

/// `task-server backup FILE`: a copy of the database, also while a server runs.
func backup(_ storage: StorageSettings, to target: String) throws(OperatorError) -> ExitStatus {
    try SQLiteFile(storage.filePath).backup(to: target)
    StandardStream.error.print("task-server: the copy is in \(target)")
    return .success
}

/// `task-server restore FILE`: puts a copy in the place of the database, which no server may use meanwhile.
func restore(_ storage: StorageSettings, from copy: String) throws(OperatorError) -> ExitStatus {
    let path = try storage.filePath
    let restored = try SQLiteRestore(of: path, from: copy)
    let counts = "\(restored.tasks.counted("task")) of \(restored.people.counted("person", "people"))"
    let kept = restored.kept.map { "; the earlier database is \($0) now" } ?? ""
    StandardStream.error.print("task-server: \(path) has \(counts)\(kept)")
    return .success
}

extension StorageSettings {
    fileprivate var filePath: String {
        get throws(OperatorError) {
            if let path = database.path { return path }
            throw OperatorError(
                "TASKS_DATABASE: only a sqlite:PATH is a file",
                advice: "for PostgreSQL use pg_dump and pg_restore, or export and import")
        }
    }

    /// The database as export, import and move-owners see it.
    func taskDatabase() throws(OperatorError) -> TaskDatabase {
        switch database {
        case .memory: throw OperatorError("TASKS_DATABASE: there is nothing to copy or move in memory:")
        case .sqlite(let path): .sqlite(path)
        case .postgresql(let address): .postgreSQL(address)
        }
    }
}

/// `task-server migrate`: makes the tables, or brings them up to date, and serves no one.
func migrate(_ storage: StorageSettings, distributing: Bool) throws(OperatorError) -> ExitStatus {
    switch storage.database {
    case .memory where distributing, .sqlite where distributing:
        throw OperatorError("TASKS_DATABASE: only a PostgreSQL database with Citus can be distributed")
    case .memory: StandardStream.output.print("there is nothing to migrate in memory")
    case .sqlite(let path):
        try OpenStore(storage, observer: { _ in }).store.close()
        StandardStream.output.print("the database \(path) is up to date")
    case .postgresql(let address):
        StandardStream.output.print(try PostgreSQLTaskStore.migrate(address, partitions: storage.partitions))
        if distributing { StandardStream.output.print(try PostgreSQLTaskStore.distribute(address)) }
    }
    return .success
}
