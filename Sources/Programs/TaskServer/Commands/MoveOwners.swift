import Basics
import IssuerKeys
import OwnerMoves
import Platform
import TaskArchive
import Tasks

/// `task-server move-owners MAP`: gives people's tasks to other owners, or says what that would do.
///
/// The database is opened before the map is read, so a server that uses the SQLite file stops the command at once.
func moveOwners(
    _ settings: ServerSettings, by path: String, _ signals: Signals
) throws(OperatorError) -> ExitStatus {
    let flags = settings.command.move
    let tables = try settings.storage.taskDatabase().open(for: flags.applies ? .change : .read)
    let stop = try StopRequest.watching(signals, advice: flags.applies ? flags.advice : "nothing was changed")
    guard let map = try readMap(path, flags) else { return .failure }
    if !flags.allowsAnyNamespace {
        try refuseUnknownNamespaces(map, path, settings.issuerKeys.ownerPrefixes)
        if let warning = map.warning { StandardStream.error.print("task-server: warning: \(path), \(warning)") }
    }
    let (unmapped, report) = try rethrowing(as: { $0.advising(flags.advice) }) { () throws(OperatorError) in
        (try listUnmapped(map, tables, flags), try run(tables, map, flags, stop))
    }
    for line in MoveReportText(report, unmapped, map.count, flags).lines {
        StandardStream.output.print(line)
    }
    guard report.isWhole else {
        StandardStream.error.print(
            "task-server: stopped after \(report.pairs) of \(map.count.counted("person", "people")); \(flags.advice)")
        return stop.exitStatus
    }
    return flags.applies && report.conflicts.count > 0 ? .failure : .success
}

/// Refuses a map with new owners of no configured source, because no token would name them.
private func refuseUnknownNamespaces(
    _ map: OwnerMap, _ path: String, _ prefixes: [String]
) throws(OperatorError) {
    let unknown = map.namespaces.new.filter { !prefixes.contains($0.key.isEmpty ? "" : "\($0.key):") }
    guard let (name, number) = unknown.min(by: { $0.value < $1.value }) else { return }
    let lack = name.isEmpty ? "owners without a namespace" : "the namespace \(name):"
    throw OperatorError(
        "\(path), line \(number): no source of these settings has \(lack), so no token would lead to the tasks",
        advice:
            "give this command the settings of the server (TASKS_AUTHORITY, TASKS_SOURCES, …), correct the map, or move "
            + "all the same with --any-namespace")
}

extension MoveFlags {
    /// How to continue a move that ended in the middle.
    fileprivate var advice: String {
        let change = unmapped.map { ", without --list-unmapped once \($0) exists," } ?? ""
        return "run the same command again\(change) to continue: who was moved has nothing left to move"
    }
}

/// Reads the map from a file; prints its mistakes and returns nil if it has any.
private func readMap(_ path: String, _ flags: MoveFlags) throws(OperatorError) -> OwnerMap? {
    var lines = try rethrowing(as: OperatorError.init) { () throws(SystemError) in try LineReader(path: path) }
    do throws(OwnerMap.Mistakes) {
        return try OwnerMap.read({ () throws(SystemError) in try lines.next() }, merging: flags.merges)
    } catch {
        let faults = error.lines
        for message in faults.first { StandardStream.error.print("task-server: \(path), \(message)") }
        let rest = faults.count - faults.first.count
        if rest > 0 { StandardStream.error.print("task-server: and \(rest) more mistakes") }
        StandardStream.error.print("task-server: the map has mistakes, and nothing was changed.")
        return nil
    }
}

/// Finds the owners with tasks who are not in the map, and lists them in a new file if its path is given.
private func listUnmapped(
    _ map: OwnerMap, _ tables: any OwnerTables, _ flags: MoveFlags
) throws(OperatorError) -> UnmappedOwners {
    guard let path = flags.unmapped else { return try tables.unmapped(map, to: { _ in }) }
    var file = try LineFile.create(path)
    let unmapped = try tables.unmapped(map) { (line: [UInt8]) throws(SystemError) in try file.append(line) }
    do throws(SystemError) { try file.publish() } catch { throw OperatorError(error) }
    return unmapped
}

private func run(
    _ tables: any OwnerTables, _ map: OwnerMap, _ flags: MoveFlags, _ stop: StopRequest
) throws(OperatorError) -> MoveReport {
    guard flags.applies else { return try tables.plan(map, merging: flags.merges) }
    var progress = ProgressLine("people", of: map.count)
    defer { progress.leave() }
    return try tables.move(map, merging: flags.merges) { count in
        progress.show(count)
        return !stop.isMade
    }
}

/// The text that `move-owners` prints about a move that was made, or that would be made.
struct MoveReportText {
    private(set) var lines: [String] = []
    private let isDone: Bool

    init(_ report: MoveReport, _ unmapped: UnmappedOwners, _ count: Int, _ flags: MoveFlags) {
        isDone = flags.applies
        lines.append(
            isDone
                ? "\(Self.people(count)) in the map."
                : "\(Self.people(count)) in the map. This is a dry run: nothing is changed. With --apply:")
        addMoves(report)
        addConflicts(report.conflicts)
        addEmpty(report.empty)
        addUnmapped(unmapped)
    }

    private mutating func addMoves(_ report: MoveReport) {
        let verb = isDone ? "moved" : "would move"
        if report.moved.people > 0 || report.merged.people == 0 {
            lines.append("\(Self.people(report.moved.people)) \(verb), with \(Self.tasks(report.moved.tasks))")
        }
        if report.merged.people > 0 {
            lines.append(
                "\(Self.people(report.merged.people)) \(verb), with "
                    + "\(Self.tasks(report.merged.tasks)) to owners who have tasks; the moved ones come after those")
        }
        if report.renumbered > 0 {
            lines.append(
                "\(Self.people(report.renumbered)) of these \(isDone ? "got" : "would get") new ids for their tasks, in the "
                    + "same order: the new owner has used some of the old ones; apps must read the list again")
        }
    }

    private mutating func addConflicts(_ conflicts: MoveReport.Sample<MoveReport.Line>) {
        guard conflicts.count > 0 else { return }
        lines.append(
            "\(Self.people(conflicts.count)) \(isDone ? "stayed" : "would stay"): the new owner has tasks. "
                + "--merge puts both lists together")
        add(conflicts) { line in
            "\(line.pair.old.identifier) with \(Self.tasks(line.oldTasks)), \(line.pair.new.identifier) with "
                + Self.tasks(line.newTasks)
        }
    }

    private mutating func addEmpty(_ empty: MoveReport.Sample<MoveReport.Line>) {
        guard empty.count > 0 else { return }
        lines.append("\(Self.people(empty.count)) without tasks to move: moved before, or never had any")
        add(empty) { $0.pair.old.identifier }
    }

    private mutating func add(
        _ sample: MoveReport.Sample<MoveReport.Line>, _ text: (MoveReport.Line) -> String
    ) {
        for line in sample.first { lines.append("    line \(line.number): \(text(line))") }
        addRest(sample.count - sample.first.count)
    }

    private mutating func addUnmapped(_ unmapped: UnmappedOwners) {
        lines.append("\(Self.people(unmapped.sample.count)) with tasks not in the map")
        for known in unmapped.sample.first {
            lines.append("    \(known.owner.identifier) with \(Self.tasks(known.tasks))")
        }
        addRest(unmapped.sample.count - unmapped.sample.first.count)
        for (name, count) in unmapped.elsewhere.sorted(by: { $0.key < $1.key }) {
            let space = name.isEmpty ? "without a namespace" : "of the source \(name)"
            lines.append("\(Self.people(count)) \(space) not in the map, which moves no one from there")
        }
    }

    private mutating func addRest(_ count: Int) {
        if count > 0 { lines.append("    and \(count) more") }
    }

    private static func people(_ count: Int) -> String { count.counted("person", "people") }
    private static func tasks(_ count: Int64) -> String { count.counted("task") }
}
