import Basics
import Platform
import TaskArchive

/// `task-server import`: the lines of an export, from a file or from standard input, into the database.
func importLines(
    _ storage: StorageSettings, from source: String?, _ signals: Signals
) throws(OperatorError) -> ExitStatus {
    let database = try storage.taskDatabase()
    let stop = try StopRequest.watching(signals, advice: importAdvice)
    let input = try ImportInput.open(source)
    let summary = try run(database, input, stop)
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
    _ database: TaskDatabase, _ input: consuming ImportInput, _ stop: StopRequest
) throws(OperatorError) -> ImportSummary {
    var progress = ProgressLine("tasks", besides: input.isFile ? nil : .input)
    return try rethrowing(as: { $0.advising(importAdvice) }) { () throws(OperatorError) in
        defer { progress.leave() }
        progress.begin(of: nil, part: input.part)
        let summary = try database.open(for: .fill).importLines { () throws(SystemError) in
            try input.next()
        } shouldContinue: { summary in
            progress.show(summary.tasks, part: input.part)
            return !stop.isMade
        }
        progress.finish(summary.tasks, isWhole: summary.end == .whole)
        return summary
    }
}

private func message(of summary: ImportSummary) -> String {
    let counts = "\(summary.added.counted("task")) imported, \(summary.present) existed"
    return summary.differing == 0
        ? counts : "\(counts), \(summary.differing) of them with other contents, which were kept"
}

/// The lines of an import, and how many of them are read.
private struct ImportInput: ~Copyable {
    private var lines: LineReader
    private let total: Int?
    /// Whether it has a name, and is not standard input.
    let isFile: Bool

    static func open(_ path: String?) throws(OperatorError) -> ImportInput {
        do throws(SystemError) {
            guard let path else {
                let total = StandardStream.input.remainingBytes
                return ImportInput(lines: try LineReader(.input), total: total, isFile: false)
            }
            return ImportInput(lines: try LineReader(path: path), total: try File.size(path), isFile: true)
        } catch {
            throw path == nil ? OperatorError("standard input: \(error)") : OperatorError(error)
        }
    }

    /// The part that is read; nil if its length is not known.
    var part: Double? { total.map { $0 > 0 ? Double(lines.position) / Double($0) : 1 } }

    mutating func next() throws(SystemError) -> [UInt8]? { try lines.next() }
}
