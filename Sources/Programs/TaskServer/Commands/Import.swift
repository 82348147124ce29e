import Basics
import Platform
import TaskArchive

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
    return try rethrowing(as: { $0.advising(importAdvice) }) { () throws(OperatorError) in
        defer { progress.leave() }
        return try database.open(for: .fill).importLines { () throws(SystemError) in
            try lines.next()
        } shouldContinue: { summary in
            progress.show(summary.tasks)
            return !stop.isMade
        }
    }
}

private func message(of summary: ImportSummary) -> String {
    let counts = "\(summary.added.counted("task")) imported, \(summary.present) existed"
    return summary.differing == 0
        ? counts : "\(counts), \(summary.differing) of them with other contents, which were kept"
}
