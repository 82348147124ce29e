import PostgreSQLStore
import SQLiteStore
import Tasks

extension PostgreSQLTaskStore {
    /// Opens a store with some options changed.
    static func open(_ address: String, _ change: (inout PostgreSQLStoreOptions) -> Void) throws -> PostgreSQLTaskStore
    {
        var options = PostgreSQLStoreOptions()
        change(&options)
        return try open(address, options: options)
    }
}

extension SQLiteTaskStore {
    /// Opens a store with some options changed.
    static func open(path: String, _ change: (inout SQLiteStoreOptions) -> Void) throws -> SQLiteTaskStore {
        var options = SQLiteStoreOptions()
        change(&options)
        return try open(path: path, options: options)
    }
}
