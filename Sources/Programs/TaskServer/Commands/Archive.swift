import Platform
import TaskStores

/// `task-server backup FILE`: a copy of the database, also while a server runs on it.
func backup(_ storage: StorageSettings, to target: String) throws(StartFailure) -> ExitCode {
    let archive = try archive(of: storage)
    try StartFailure.translating { () throws(ArchiveError) in try archive.backup(to: target) }
    StandardStream.error.print("task-server: the copy is in \(target)")
    return .ok
}

/// `task-server export`: every task as a line of JSON on standard output.
func export(_ storage: StorageSettings) throws(StartFailure) -> ExitCode {
    let archive = try archive(of: storage)
    var waiting: [UInt8] = []
    let count = try StartFailure.translating { () throws(ArchiveError) in
        try archive.export { (line: [UInt8]) throws(SystemError) in
            waiting += line + [UInt8(ascii: "\n")]
            guard waiting.count > 1 << 16 else { return }
            try StandardStream.output.write(waiting)
            waiting.removeAll(keepingCapacity: true)
        }
    }
    do throws(SystemError) {
        try StandardStream.output.write(waiting)
    } catch {
        throw StartFailure(sentence: "standard output: \(error)")
    }
    StandardStream.error.print("task-server: \(count) tasks exported")
    return .ok
}

/// `task-server import`: the lines of an export from standard input into the database.
func importLines(_ storage: StorageSettings) throws(StartFailure) -> ExitCode {
    let archive = try archive(of: storage)
    var lines: LineReader
    do throws(SystemError) {
        lines = try LineReader(.input)
    } catch {
        throw StartFailure(sentence: "standard input: \(error)")
    }
    let summary = try StartFailure.translating { () throws(ArchiveError) in
        try archive.importLines { () throws(SystemError) in try lines.next() }
    }
    StandardStream.error.print("task-server: \(summary.added) tasks imported, \(summary.present) were there")
    return .ok
}

private func archive(of storage: StorageSettings) throws(StartFailure) -> TaskArchive {
    guard let path = storage.database.path else {
        throw StartFailure(sentence: "TASKS_DATABASE: there is nothing to copy in memory:; name a sqlite:PATH")
    }
    return TaskArchive(path: path)
}

extension StartFailure {
    fileprivate static func translating<Value>(_ body: () throws(ArchiveError) -> Value) throws(StartFailure) -> Value {
        do throws(ArchiveError) {
            return try body()
        } catch {
            throw StartFailure(sentence: error.words)
        }
    }
}
