import PostgreSQLStore
import Platform
import Tasks

/// `task-server migrate`: makes the tables, or brings them up to date, and serves no one.
func migrate(_ storage: StorageSettings) -> ExitStatus {
    do throws(StoreOpenError) {
        StandardStream.output.print(try migrated(storage))
        return .success
    } catch {
        StandardStream.error.print("task-server: \(error.message)")
        return .failure
    }
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
