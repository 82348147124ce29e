import Basics
import Glibc
import OwnerMoves
import Platform
import Tasks

/// `task-server move-owners MAP`: gives people's tasks to other owners, or says what that would do.
func moveOwners(
    _ storage: StorageSettings, by path: String, _ flags: MoveFlags, _ signals: Signals
) throws(StartFailure) -> ExitStatus {
    let mover = try storage.ownerMover()
    let stop = try StopRequest.watching(signals, advice: flags.applies ? moveAdvice : "Nothing was changed")
    guard let map = try readMap(path, merging: flags.merges) else { return .failure }
    let unmapped = try listUnmapped(map, mover, to: flags.unmapped)
    let report = try run(mover, map, flags, stop)
    for line in MoveReportText(report, unmapped, map.count, unit: map.unit, flags).lines {
        StandardStream.output.print(line)
    }
    guard report.isWhole else {
        StandardStream.error.print(
            "task-server: stopped after \(report.pairs) of \(map.count.counted("person", "people")). \(moveAdvice)")
        return stop.exitStatus
    }
    return flags.applies && report.conflicts.count > 0 ? .failure : .success
}

private let moveAdvice = "Run the same command again to continue: who was moved has nothing left to move"

extension StorageSettings {
    /// The database as moves see it.
    fileprivate func ownerMover() throws(StartFailure) -> any OwnerMover {
        switch database {
        case .memory: throw StartFailure(message: "TASKS_DATABASE: there is no one to move in memory:")
        case .sqlite(let path): SQLiteOwnerMover(path: path)
        case .postgresql(let address): PostgreSQLOwnerMover(address)
        }
    }
}

extension StartFailure {
    fileprivate init(_ error: OwnerMoveError) {
        switch error {
        case .failed, .full: self.init(message: "\(error.message). \(moveAdvice)")
        case .database, .noPause, .foreignTables, .file, .map: self.init(message: error.message)
        }
    }
}

/// The map of this file; nil after its mistakes were printed.
private func readMap(_ path: String, merging: Bool) throws(StartFailure) -> OwnerMap? {
    do throws(OwnerMoveError) {
        var lines = try rethrowing(as: OwnerMoveError.file) { () throws(SystemError) in try LineReader(path: path) }
        return try OwnerMap.read({ () throws(SystemError) in try lines.next() }, merging: merging)
    } catch .map(let faults) {
        for message in faults.first { StandardStream.error.print("task-server: \(path), \(message)") }
        let rest = faults.count - faults.first.count
        if rest > 0 { StandardStream.error.print("task-server: and \(rest) more mistakes") }
        StandardStream.error.print("task-server: the map has mistakes, and nothing was changed.")
        return nil
    } catch {
        throw StartFailure(error)
    }
}

/// Who has tasks and is not in the map, also in a new file if its path is given.
private func listUnmapped(
    _ map: borrowing OwnerMap, _ mover: any OwnerMover, to path: String?
) throws(StartFailure) -> UnmappedOwners {
    guard let path else {
        return try rethrowing(as: { StartFailure($0) }) { () throws(OwnerMoveError) in
            try mover.unmapped(map, to: { _ in })
        }
    }
    guard !File.exists(path) else {
        throw StartFailure(message: "\(path) exists, and is not replaced; give another name")
    }
    var waiting: [UInt8] = []
    return try rethrowing(as: { StartFailure($0) }) { () throws(OwnerMoveError) in
        let file = try openList(path)
        let unmapped = try mover.unmapped(map) { (line: [UInt8]) throws(SystemError) in
            waiting += line + [UInt8(ascii: "\n")]
            guard waiting.count > 1 << 16 else { return }
            try file.append(waiting)
            waiting.removeAll(keepingCapacity: true)
        }
        try rethrowing(as: OwnerMoveError.file) { () throws(SystemError) in try file.append(waiting) }
        return unmapped
    }
}

private func openList(_ path: String) throws(OwnerMoveError) -> GrowingFile {
    do throws(FileLock.Failure) {
        return try GrowingFile.open(path)
    } catch {
        switch error {
        case .held: throw .file(SystemError(code: EBUSY, operation: "write '\(path)'"))
        case .system(let error): throw .file(error)
        }
    }
}

private func run(
    _ mover: any OwnerMover, _ map: borrowing OwnerMap, _ flags: MoveFlags, _ stop: StopRequest
) throws(StartFailure) -> MoveReport {
    guard flags.applies else {
        return try rethrowing(as: { StartFailure($0) }) { () throws(OwnerMoveError) in
            try mover.plan(map, merging: flags.merges)
        }
    }
    var progress = ProgressLine("people", besides: nil)
    defer { progress.leave() }
    progress.begin(at: 0, of: map.count)
    let report = try rethrowing(as: { StartFailure($0) }) { () throws(OwnerMoveError) in
        try mover.move(map, merging: flags.merges) { count in
            progress.show(count)
            return !stop.isMade
        }
    }
    progress.finish(report.pairs, isWhole: report.isWhole)
    return report
}
