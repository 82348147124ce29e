import Basics
import Platform
import PostgreSQLStore
import Tasks

/// `task-server migrate`: makes the tables, or brings them up to date, and serves no one.
func migrate(_ storage: StorageSettings) throws(OperatorError) -> ExitStatus {
    StandardStream.output.print(try migrated(storage))
    return .success
}

/// What was done, in a line.
private func migrated(_ storage: StorageSettings) throws(OperatorError) -> String {
    switch storage.database {
    case .memory: return "there is nothing to migrate in memory"
    case .sqlite(let path):
        try OpenStore(storage, observer: { _ in }).store.close()
        return "the database \(path) is up to date"
    case .postgresql(let address):
        return try PostgreSQLTaskStore.migrate(address, partitions: storage.partitions)
    }
}
