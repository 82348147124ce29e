import Basics
import OwnerMoves
import Tasks

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
