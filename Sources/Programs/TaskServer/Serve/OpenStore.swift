import PostgreSQLStore
import SQLiteStore
import MemoryStore
import Platform
import Tasks

/// The store of the settings, open.
enum OpenStore: Sendable {
    case memory(MemoryTaskStore)
    case sqlite(SQLiteTaskStore)
    case postgresql(PostgreSQLTaskStore)

    /// Opens the store; makes its file or its tables if they are missing.
    init(
        _ storage: StorageSettings, answers: AnswerMemory = AnswerMemory(),
        observer: @escaping @Sendable (StoreEvent) -> Void
    ) throws(StoreOpenError) {
        switch storage.database {
        case .memory: self = .memory(MemoryTaskStore(answers: answers))
        case .sqlite(let path):
            var options = SQLiteStoreOptions()
            options.answers = answers
            options.observer = observer
            self = .sqlite(try SQLiteTaskStore.open(path: path, options: options))
        case .postgresql(let address):
            var options = PostgreSQLStoreOptions()
            options.answers = answers
            options.partitions = storage.partitions
            options.observer = observer
            self = .postgresql(try PostgreSQLTaskStore.open(address, options: options))
        }
    }

    /// As the API sees it.
    var store: any TaskStore {
        switch self {
        case .memory(let store): store
        case .sqlite(let store): store
        case .postgresql(let store): store
        }
    }

    /// What it counts, if it counts.
    var statistics: StoreStatistics? {
        switch self {
        case .memory: nil
        case .sqlite(let store): store.statistics
        case .postgresql(let store): store.statistics
        }
    }
}
