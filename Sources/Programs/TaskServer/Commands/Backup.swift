import Basics
import TaskArchive
import Platform

/// `task-server backup FILE`: a copy of the database, also while a server runs on it.
func backup(_ storage: StorageSettings, to target: String) throws(StartFailure) -> ExitStatus {
    guard let path = storage.database.path else {
        throw StartFailure(
            message: "TASKS_DATABASE: only a sqlite:PATH is copied as a file; for PostgreSQL use pg_dump, or export")
    }
    try StartFailure.translating { () throws(ArchiveError) in try SQLiteArchive(path: path).backup(to: target) }
    StandardStream.error.print("task-server: the copy is in \(target)")
    return .success
}

extension StorageSettings {
    /// The database as export and import see it.
    func archive() throws(StartFailure) -> any LineArchive {
        switch database {
        case .memory: throw StartFailure(message: "TASKS_DATABASE: there is nothing to copy in memory:")
        case .sqlite(let path): SQLiteArchive(path: path)
        case .postgresql(let address): PostgreSQLArchive(address)
        }
    }
}

extension StartFailure {
    /// Runs a body, with its errors in a line for the operator; `advice` says how to continue after an end in the middle.
    static func translating<Value>(
        advice: String? = nil, _ body: () throws(ArchiveError) -> Value
    ) throws(StartFailure) -> Value {
        try rethrowing(
            as: { error in
                switch error {
                case .failed, .full, .file:
                    StartFailure(message: error.message + (advice.map { ". \($0)" } ?? ""))
                case .database, .targetExists, .target, .line: StartFailure(message: error.message)
                }
            }, body)
    }
}
