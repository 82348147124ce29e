import Platform
import TaskStores

/// `task-server backup FILE`: a copy of the database, also while a server runs on it.
func backup(_ storage: StorageSettings, to target: String) throws(StartFailure) -> ExitCode {
    let archive = try fileArchive(of: storage)
    try StartFailure.translating { () throws(ArchiveError) in try archive.backup(to: target) }
    StandardStream.error.print("task-server: the copy is in \(target)")
    return .ok
}

/// `task-server export`: every task as a line of JSON on standard output.
func export(_ storage: StorageSettings) throws(StartFailure) -> ExitCode {
    let archive = try archive(of: storage)
    var waiting: [UInt8] = []
    var progress = Progress("lines written")
    let count = try StartFailure.translating { () throws(ArchiveError) in
        try archive.export { (line: [UInt8]) throws(SystemError) in
            progress.count()
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
    progress.end()
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
    var progress = Progress("lines read")
    defer { progress.end() }
    let summary = try StartFailure.translating { () throws(ArchiveError) in
        try archive.importLines { () throws(SystemError) in
            progress.count()
            return try lines.next()
        }
    }
    progress.end()
    StandardStream.error.print("task-server: \(summary.added) tasks imported, \(summary.present) were there")
    return .ok
}

private func archive(of storage: StorageSettings) throws(StartFailure) -> any LineArchive {
    switch storage.database {
    case .memory: throw StartFailure(sentence: "TASKS_DATABASE: there is nothing to copy in memory:")
    case .sqlite(let path): TaskArchive(path: path)
    case .postgresql(let address): PostgreSQLArchive(address)
    }
}

private func fileArchive(of storage: StorageSettings) throws(StartFailure) -> TaskArchive {
    guard let path = storage.database.path else {
        throw StartFailure(
            sentence: "TASKS_DATABASE: only a sqlite:PATH is copied as a file; for PostgreSQL use pg_dump, or export")
    }
    return TaskArchive(path: path)
}

/// How far a long command is, on a terminal: one line that is written over.
private struct Progress {
    private let words: String
    private let isShown = StandardStream.error.isTerminal
    private var number = 0
    private var hasShown = false

    init(_ words: String) {
        self.words = words
    }

    mutating func count() {
        number += 1
        guard isShown, number % 5000 == 0 else { return }
        hasShown = true
        _ = try? StandardStream.error.write(Array("\r\(number) \(words)".utf8))
    }

    /// Leaves the line to others.
    mutating func end() {
        guard hasShown else { return }
        hasShown = false
        _ = try? StandardStream.error.write(Array("\r\u{1B}[K".utf8))
    }
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
