import Basics
import MemoryStore
import PostgreSQLStore
import SQLiteStore
import Tasks

/// The store of the settings, open.
struct OpenStore: Sendable {
    /// The store as the API sees it.
    let store: any TaskStore
    /// Returns what the store counts; nil for a store in memory, which counts nothing.
    let statistics: @Sendable () -> StoreStatistics?
    /// How long the work of the store takes; nil for a store in memory.
    let times: StoreTimes?

    /// Opens the store; makes its file or its tables if they are missing.
    init(
        _ storage: StorageSettings, answers: AnswerMemory = AnswerMemory(),
        observer: @escaping @Sendable (StoreEvent) -> Void
    ) throws(OperatorError) {
        switch storage.database {
        case .memory:
            store = MemoryTaskStore(answers: answers)
            statistics = { nil }
            times = nil
        case .sqlite(let path):
            var options = SQLiteStoreOptions()
            options.answers = answers
            options.observer = observer
            let store = try SQLiteTaskStore.open(path: path, options: options)
            self.store = store
            statistics = { store.statistics }
            times = store.times
        case .postgresql(let address):
            var options = PostgreSQLStoreOptions()
            options.answers = answers
            options.partitions = storage.partitions
            options.observer = observer
            let store = try PostgreSQLTaskStore.open(address, options: options)
            self.store = store
            statistics = { store.statistics }
            times = store.times
        }
    }
}
