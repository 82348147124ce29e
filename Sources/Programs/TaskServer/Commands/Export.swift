import Basics
import Platform
import TaskArchive

/// `task-server export`: every task as a line of JSON, in a file or on standard output.
func export(
    _ storage: StorageSettings, to target: String?, resume: Bool, _ signals: Signals
) throws(StartFailure) -> ExitStatus {
    let archive = try storage.archive()
    guard let target else { return try exportToOutput(archive, signals) }
    let file = try ExportFile(target, resume: resume)
    guard !file.found.isWhole else { return try file.publish(tasks: file.found.start.tasks) }
    return try exportTo(file, archive, signals)
}

private func exportToOutput(_ archive: any LineArchive, _ signals: Signals) throws(StartFailure) -> ExitStatus {
    let advice =
        "The output is incomplete: its last line is missing. An export to a file can be continued: "
        + "task-server export FILE"
    let stop = try StopRequest.watching(signals, advice: advice)
    let progress = ProgressLine("tasks", besides: .output)
    let summary = try run(archive, from: ExportStart(), progress, stop, advice: advice) { (bytes) throws(SystemError) in
        try StandardStream.output.write(bytes)
    }
    guard summary.isWhole else {
        StandardStream.error.print("task-server: stopped after \(summary.tasks.counted("task")). \(advice)")
        return stop.exitStatus
    }
    StandardStream.error.print("task-server: \(summary.tasks.counted("task")) exported")
    return .success
}

private func exportTo(
    _ file: borrowing ExportFile, _ archive: any LineArchive, _ signals: Signals
) throws(StartFailure) -> ExitStatus {
    let stop = try StopRequest.watching(signals, advice: file.advice)
    let progress = ProgressLine("tasks", besides: nil)
    let summary = try run(archive, from: file.found.start, progress, stop, advice: file.advice) {
        (bytes) throws(SystemError) in try file.append(bytes)
    }
    guard summary.isWhole else {
        StandardStream.error.print("task-server: stopped after \(summary.tasks.counted("task")). \(file.advice)")
        return stop.exitStatus
    }
    return try file.publish(tasks: summary.tasks)
}

/// Runs an export whose lines are written in large pieces.
private func run(
    _ archive: any LineArchive, from start: ExportStart, _ progress: consuming ProgressLine, _ stop: StopRequest,
    advice: String, _ write: ([UInt8]) throws(SystemError) -> Void
) throws(StartFailure) -> ExportSummary {
    var chunks = LineChunks()
    return try StartFailure.translating(advice: advice) { () throws(ArchiveError) in
        defer { progress.leave() }
        if progress.isWatched { progress.begin(at: start.tasks, of: try archive.countTasks()) }
        let summary = try archive.export(start) { (line: [UInt8]) throws(SystemError) in
            try chunks.append(line, write)
        } shouldContinue: { tasks in
            progress.show(tasks)
            return !stop.isMade
        }
        do throws(SystemError) { try chunks.flush(write) } catch { throw .file(error) }
        progress.finish(summary.tasks, isWhole: summary.isWhole)
        return summary
    }
}
