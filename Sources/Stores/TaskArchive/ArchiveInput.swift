import Platform

/// The lines of an import, in stretches that go into one transaction each.
struct ArchiveInput {
    /// Some lines.
    struct Stretch {
        var lines: [ArchiveLine] = []
        /// What is wrong with the line behind them.
        var fault: ArchiveError?
        var isLast = false
    }

    /// How many lines a transaction has at most, and about how many bytes.
    private static let most = (lines: 1000, bytes: 1 << 22)

    private var number = 0
    private var (tasksSinceEnd, keysSinceEnd) = (0, 0)
    /// Whether the last line was one that says that all came before it.
    private(set) var isWhole = false

    /// Reads the next lines; an empty one is skipped.
    mutating func next(
        _ nextLine: LineInput
    ) throws(ArchiveError) -> Stretch {
        var stretch = Stretch()
        var size = 0
        while stretch.lines.count < Self.most.lines, size < Self.most.bytes {
            let bytes: [UInt8]?
            do throws(SystemError) { bytes = try nextLine() } catch { throw .file(error) }
            guard let bytes else {
                stretch.isLast = true
                return stretch
            }
            number += 1
            size += bytes.count
            guard !bytes.isEmpty else { continue }
            do throws(ArchiveLine.Fault) {
                let line = try ArchiveLine(parsing: bytes)
                try count(line)
                stretch.lines.append(line)
            } catch {
                stretch.fault = .line(number: number, reason: error.reason)
                return stretch
            }
        }
        return stretch
    }

    /// Several exports may stand one behind the other; each ends with its own count.
    private mutating func count(_ line: ArchiveLine) throws(ArchiveLine.Fault) {
        isWhole = false
        switch line {
        case .task: tasksSinceEnd += 1
        case .attempt: keysSinceEnd += 1
        case .owner: break
        case .end(let tasks, let keys):
            try expect(tasks, "tasks", tasksSinceEnd)
            try expect(keys, "idempotency keys", keysSinceEnd)
            (tasksSinceEnd, keysSinceEnd, isWhole) = (0, 0, true)
        }
    }

    private func expect(_ count: Int, _ name: String, _ found: Int) throws(ArchiveLine.Fault) {
        guard count == found else {
            throw ArchiveLine.Fault(
                reason: "the export had \(count) \(name), here are \(found): lines are missing or doubled")
        }
    }
}
