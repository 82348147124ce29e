import Platform

/// Lines of an import that go into one transaction.
struct ArchiveChunk {
    var lines: [ArchiveLine] = []
    /// What is wrong with the line behind them.
    var fault: ArchiveError?
    var isLast = false

    /// Reads the next lines, and counts them; an empty one is skipped.
    static func next(
        _ number: inout Int, _ nextLine: () throws(SystemError) -> [UInt8]?
    ) throws(ArchiveError) -> ArchiveChunk {
        var chunk = ArchiveChunk()
        while chunk.lines.count < 200 {
            let bytes: [UInt8]?
            do throws(SystemError) { bytes = try nextLine() } catch { throw .file(error) }
            guard let bytes else {
                chunk.isLast = true
                return chunk
            }
            number += 1
            guard !bytes.isEmpty else { continue }
            do throws(ArchiveLine.Fault) {
                chunk.lines.append(try ArchiveLine(parsing: bytes))
            } catch {
                chunk.fault = .line(number: number, reason: error.reason)
                return chunk
            }
        }
        return chunk
    }
}
