import Basics
import Platform
import PostgreSQLStore
import Tasks

/// `task-server migrate`: makes the tables, or brings them up to date, and serves no one.
func migrate(_ storage: StorageSettings) throws(OperatorError) -> ExitStatus {
    let done = try rethrowing(as: OperatorError.init) { () throws(StoreOpenError) in try migrated(storage) }
    StandardStream.output.print(done)
    return .success
}

/// What was done, in a line.
private func migrated(_ storage: StorageSettings) throws(StoreOpenError) -> String {
    switch storage.database {
    case .memory: return "there is nothing to migrate in memory"
    case .sqlite(let path):
        try OpenStore(storage, observer: { _ in }).store.close()
        return "the database \(path) is up to date"
    case .postgresql(let address):
        return try PostgreSQLTaskStore.migrate(address, partitions: storage.partitions)
    }
}
