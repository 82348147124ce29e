package import Platform
import Tasks

/// What the file of an unfinished export holds.
package struct PartialExport: Sendable, Equatable {
    /// Where an export continues: after the last owner whose lines are surely complete.
    package private(set) var start = ExportStart()
    /// The bytes up to there; what follows them is to be written again.
    package private(set) var bytes = 0
    /// Whether the last line of an export is there, so that nothing is missing.
    package private(set) var isWhole = false
    /// The owner of the last line.
    private var current = Owner("")
    /// The tasks and idempotency keys of all lines.
    private var (tasks, keys) = (0, 0)

    /// Reads the file at this path; nil if it is not the beginning of an export.
    ///
    /// Scanning stops at the first malformed line, such as one that a power cut damaged; the owner before it is exported
    /// again, because lines of that owner may be missing.
    package init?(of path: String) throws(SystemError) {
        var lines = try LineReader(path: path)
        var position = 0
        while !isWhole, let bytes = try lines.next() {
            let hasEnd = lines.position > position + bytes.count
            guard hasEnd, let line = try? ArchiveLine(parsing: bytes), accept(line, at: position) else {
                // The first line may be cut, but then it is also the last one.
                guard position > 0 || !hasEnd else { return nil }
                return
            }
            position = lines.position
        }
        let more = try lines.next()
        guard more == nil else { return nil }
    }

    /// Counts a line that begins after this many bytes; false if it cannot be in this place.
    private mutating func accept(_ line: ArchiveLine, at position: Int) -> Bool {
        switch line {
        case .end(let allTasks, let allKeys):
            guard (allTasks, allKeys) == (tasks, keys) else { return false }
            (isWhole, start.tasks, start.keys) = (true, tasks, keys)
            return true
        case .task(let item):
            guard accept(item.owner, at: position) else { return false }
            tasks += 1
            return true
        case .key(let record):
            guard accept(record.item.owner, at: position) else { return false }
            keys += 1
            return true
        case .owner(let owner, _): return accept(owner, at: position)
        }
    }

    private mutating func accept(_ owner: Owner, at position: Int) -> Bool {
        guard owner != current else { return true }
        guard current < owner else { return false }
        (start.owner, start.tasks, start.keys, bytes) = (current.identifier, tasks, keys, position)
        current = owner
        return true
    }
}
