import Basics
import Platform

/// Reads the lines of an import in batches, each for one transaction.
struct ImportBatchReader {
    struct Batch {
        var lines: [ArchiveLine] = []
        /// The mistake in the line after them, if there is one.
        var fault: OperatorError?
        var isLast = false
    }

    /// How many lines a batch has at most, and about how many bytes.
    private static let most = (lines: 1000, bytes: 1 << 22)

    private var number = 0
    private var (tasksSinceEnd, keysSinceEnd) = (0, 0)
    /// Whether the last line was one that ends an export.
    private(set) var isWhole = false

    /// Reads the next lines; an empty one is skipped.
    mutating func next(_ nextLine: LineInput) throws(OperatorError) -> Batch {
        var batch = Batch()
        var size = 0
        while batch.lines.count < Self.most.lines, size < Self.most.bytes {
            let bytes = try rethrowing(as: OperatorError.init) { () throws(SystemError) in try nextLine() }
            guard let bytes else {
                batch.isLast = true
                return batch
            }
            number += 1
            size += bytes.count
            guard !bytes.isEmpty else { continue }
            do throws(OperatorError) {
                let line = try ArchiveLine(parsing: bytes)
                try count(line)
                batch.lines.append(line)
            } catch {
                batch.fault = OperatorError(
                    "line \(number): \(error.failure)",
                    advice: "the lines before it are imported, and may be repeated")
                return batch
            }
        }
        return batch
    }

    /// Several exports may follow each other; each ends with its own count.
    private mutating func count(_ line: ArchiveLine) throws(OperatorError) {
        isWhole = false
        switch line {
        case .task: tasksSinceEnd += 1
        case .key: keysSinceEnd += 1
        case .owner: break
        case .end(let tasks, let keys):
            try expect(tasks, "tasks", tasksSinceEnd)
            try expect(keys, "idempotency keys", keysSinceEnd)
            (tasksSinceEnd, keysSinceEnd, isWhole) = (0, 0, true)
        }
    }

    private func expect(_ count: Int, _ name: String, _ found: Int) throws(OperatorError) {
        guard count == found else {
            throw OperatorError(
                "the export had \(count) \(name), here are \(found): lines are missing or doubled")
        }
    }
}
