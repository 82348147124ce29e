package import Platform
import Tasks

/// What an export that did not come to its end has left in its file.
package struct PartialExport: Sendable, Equatable {
    /// Where an export goes on: behind the last person of whom surely nothing is missing.
    package private(set) var start = ExportStart()
    /// The bytes up to there; what stands behind them is to be written again.
    package private(set) var bytes = 0
    /// Whether its last line is there, so that nothing is missing.
    package private(set) var isWhole = false
    /// The person of the last line.
    private var current = Owner("")
    /// The tasks and idempotency keys of all lines.
    private var (tasks, keys) = (0, 0)

    /// Looks through the file of this path; nil if it holds something else.
    ///
    /// Nothing behind a line that is none, such as one that a power cut spoilt, is believed. The person before it is
    /// written again as well: of that one there may be more tasks.
    package init?(of path: String) throws(SystemError) {
        var lines = try LineReader(path: path)
        var position = 0
        while !isWhole, let bytes = try lines.next() {
            let hasEnd = lines.position > position + bytes.count
            guard hasEnd, let line = try? ArchiveLine(parsing: bytes), take(line, at: position) else {
                // The first line may be cut, but then it is the last one, too.
                guard position > 0 || !hasEnd else { return nil }
                return
            }
            position = lines.position
        }
        let more = try lines.next()
        guard more == nil else { return nil }
    }

    /// Counts a line that begins behind so many bytes; false if it cannot be where it is.
    private mutating func take(_ line: ArchiveLine, at position: Int) -> Bool {
        switch line {
        case .end(let allTasks, let allKeys):
            isWhole = allTasks == tasks && allKeys == keys
            (start.tasks, start.keys) = (tasks, keys)
            return isWhole
        case .task(let item):
            guard take(item.owner, at: position) else { return false }
            tasks += 1
            return true
        case .attempt(let attempt):
            guard take(attempt.item.owner, at: position) else { return false }
            keys += 1
            return true
        case .owner(let owner, _): return take(owner, at: position)
        }
    }

    private mutating func take(_ owner: Owner, at position: Int) -> Bool {
        guard owner != current else { return true }
        guard current.identifier.utf8.lexicographicallyPrecedes(owner.identifier.utf8) else { return false }
        (start.owner, start.tasks, start.keys, bytes) = (current.identifier, tasks, keys, position)
        current = owner
        return true
    }
}
