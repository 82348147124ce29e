import Platform
import TaskStores
import Tasks

/// The store of the settings, open.
enum OpenStore: Sendable {
    case memory(MemoryTaskStore)
    case sqlite(SQLiteTaskStore)

    /// Opens the store; makes its file if it is missing.
    init(
        _ location: DatabaseLocation, observer: @escaping @Sendable (StoreEvent) -> Void
    ) throws(StoreOpenError) {
        switch location {
        case .memory: self = .memory(MemoryTaskStore())
        case .sqlite(let path):
            var options = SQLiteStoreOptions()
            options.observer = observer
            self = .sqlite(try SQLiteTaskStore.open(path: path, options: options))
        case .postgresql:
            throw .failed(path: "postgresql:", reason: "this build has no PostgreSQL")
        }
    }

    /// As the API sees it.
    var store: any TaskStore {
        switch self {
        case .memory(let store): store
        case .sqlite(let store): store
        }
    }

    /// What it counts, if it counts.
    var statistics: StoreStatistics? {
        switch self {
        case .memory: nil
        case .sqlite(let store): store.statistics
        }
    }
}
