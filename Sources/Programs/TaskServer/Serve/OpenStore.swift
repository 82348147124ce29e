import Basics
import Platform
import PostgreSQLStore
import SQLiteStore
import TaskAPI
import Tasks

struct OpenStore: Sendable {
    let store: any TaskStore
    /// Returns what the store counts.
    let statistics: @Sendable () -> StoreStatistics
    /// How long the work of the store takes.
    let times: StoreTimes

    /// Opens the store; makes its file or its tables if they are missing.
    init(
        _ storage: StorageSettings, answers: AnswerMemory = AnswerMemory(),
        observer: @escaping @Sendable (StoreEvent) -> Void
    ) throws(OperatorError) {
        switch storage.database {
        case .memory, .sqlite:
            var options = SQLiteStoreOptions()
            options.answers = answers
            options.removedTasksKept = storage.removedTasksKept
            options.observer = observer
            let store =
                if let path = storage.database.path { try SQLiteTaskStore.open(path: path, options: options) } else {
                    try SQLiteTaskStore.openTemporary(options: options)
                }
            self.store = store
            statistics = { store.statistics }
            times = store.times
        case .postgresql(let address):
            var options = PostgreSQLStoreOptions()
            options.answers = answers
            options.partitions = storage.partitions
            options.removedTasksKept = storage.removedTasksKept
            options.observer = observer
            let store = try PostgreSQLTaskStore.open(address, options: options)
            self.store = store
            statistics = { store.statistics }
            times = store.times
        }
    }
}

/// The files of the page, read into memory.
enum PublicFiles {
    /// A page is small; a folder that is not meant is refused before it fills the memory.
    private static let most = 64 << 20

    /// The files of the folder by their path below it.
    static func read(_ folder: PublicFolder) throws(OperatorError) -> [String: PublicFile] {
        do throws(SystemError) {
            return switch folder {
            case .none: [:]
            case .required(let path), .ifPresent(let path): try read(path)
            }
        } catch {
            if case .ifPresent = folder, error.isMissing { return [:] }
            throw OperatorError("TASKS_PUBLIC: cannot \(error)", advice: "name the folder of the page, or off")
        }
    }

    /// The files of the page to which answers link, and which are missing.
    static func missing(in files: [String: PublicFile]) -> [String] {
        ["index.html", "openapi.json", "openapi.yaml", "problems.html"].filter { files[$0] == nil }
    }

    private static func read(_ path: String) throws(SystemError) -> [String: PublicFile] {
        var files: [String: PublicFile] = [:]
        var room = most
        for name in try Folder.files(below: path) {
            let bytes = try File.read("\(path)/\(name)", limit: room)
            room -= bytes.count
            files[name] = PublicFile(name: name, bytes: bytes)
        }
        return files
    }
}
