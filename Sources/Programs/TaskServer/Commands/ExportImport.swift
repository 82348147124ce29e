import Basics
import OwnerMoves
import Platform
import TaskArchive
import Tasks

/// `task-server export`: every task, or those of one person, as a line of JSON, in a file or on standard output.
func export(_ settings: ServerSettings, to target: String?, _ signals: Signals) throws(OperatorError) -> ExitStatus {
    let owner = try settings.command.owner.map { (name) throws(OperatorError) in try Owner(named: name) }
    let database = try settings.storage.taskDatabase()
    let advice =
        target.map { "there is no file \($0) yet: export again" } ?? "the output has not its last line: export again"
    let stop = try StopRequest.watching(signals, advice: advice)
    let summary = try rethrowing(as: { $0.advising(advice) }) { () throws(OperatorError) in
        guard let target else { return try exportToOutput(database, of: owner, stop) }
        return try export(database, of: owner, to: target, stop)
    }
    let count = summary.tasks.counted("task")
    guard summary.isWhole else {
        StandardStream.error.print("task-server: stopped after \(count); \(advice)")
        return stop.exitStatus
    }
    StandardStream.error.print("task-server: \(count) exported\(target.map { " to \($0)" } ?? "")")
    return .success
}

private func export(
    _ database: TaskDatabase, of owner: Owner?, to target: String, _ stop: StopRequest
) throws(OperatorError) -> ExportSummary {
    var file = try LineFile.create(target)
    let summary = try run(database, of: owner, ProgressLine("tasks"), stop) { (line: [UInt8]) throws(SystemError) in
        try file.append(line)
    }
    guard summary.isWhole else { return summary }
    do throws(SystemError) { try file.publish() } catch { throw OperatorError(error) }
    return summary
}

private func exportToOutput(
    _ database: TaskDatabase, of owner: Owner?, _ stop: StopRequest
) throws(OperatorError) -> ExportSummary {
    var waiting: [UInt8] = []
    let progress = ProgressLine("tasks", besides: .output)
    let summary = try run(database, of: owner, progress, stop) { (line) throws(SystemError) in
        waiting += line + [UInt8(ascii: "\n")]
        guard waiting.count > 1 << 16 else { return }
        try StandardStream.output.write(waiting)
        waiting.removeAll(keepingCapacity: true)
    }
    do throws(SystemError) { try StandardStream.output.write(waiting) } catch { throw OperatorError(error) }
    return summary
}

private func run(
    _ database: TaskDatabase, of owner: Owner?, _ progress: consuming ProgressLine, _ stop: StopRequest,
    to output: LineOutput
) throws(OperatorError) -> ExportSummary {
    defer { progress.leave() }
    let tables = try database.open(for: .read)
    if progress.isShown, owner == nil { progress.expect(Int(try tables.countTasks())) }
    return try tables.export(of: owner, to: output) { tasks in
        progress.show(tasks)
        return !stop.isMade
    }
}

/// `task-server import`: the lines of an export, from a file or from standard input, into the database.
func importLines(
    _ storage: StorageSettings, from source: String?, _ signals: Signals
) throws(OperatorError) -> ExitStatus {
    let database = try storage.taskDatabase()
    let stop = try StopRequest.watching(signals, advice: importAdvice)
    let summary = try run(database, source, stop)
    let message = message(of: summary)
    switch summary.end {
    case .whole:
        StandardStream.error.print("task-server: \(message)")
        return .success
    case .cut:
        throw OperatorError(
            "\(message), but the last line of an export is missing: the export was not finished, or a part was lost",
            advice: "get the complete export and import it")
    case .stopped:
        StandardStream.error.print("task-server: stopped: \(message); \(importAdvice)")
        return stop.exitStatus
    }
}

private let importAdvice = "import the same lines again to continue: what the database already has is skipped"

private func run(
    _ database: TaskDatabase, _ source: String?, _ stop: StopRequest
) throws(OperatorError) -> ImportSummary {
    var lines = try rethrowing(as: { source == nil ? OperatorError("standard input: \($0)") : OperatorError($0) }) {
        () throws(SystemError) in if let source { try LineReader(path: source) } else { try LineReader(.input) }
    }
    var progress = ProgressLine("tasks", besides: source == nil ? .input : nil)
    let size = source.flatMap { try? File.size($0) }
    var read = 0
    return try rethrowing(as: { $0.advising(importAdvice) }) { () throws(OperatorError) in
        defer { progress.leave() }
        return try database.open(for: .fill).importLines { () throws(SystemError) in
            let line = try lines.next()
            read += (line?.count ?? -1) + 1
            return line
        } shouldContinue: { summary in
            progress.show(summary.tasks, part: size.map { Double(read) / Double(max($0, 1)) })
            return !stop.isMade
        }
    }
}

private func message(of summary: ImportSummary) -> String {
    let counts = "\(summary.added.counted("task")) imported, \(summary.present) existed"
    return summary.differing == 0
        ? counts : "\(counts), \(summary.differing) of them with other contents, which were kept"
}
