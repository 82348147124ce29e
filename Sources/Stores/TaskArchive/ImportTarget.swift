import Basics
import Platform

/// A database that takes the lines of an import.
protocol ImportTarget: ~Copyable {
    /// Imports the lines of some owners, who are different and ordered by the bytes of their names; counts their tasks.
    borrowing func add(_ owners: [OwnerLines], _ summary: inout ImportSummary) throws(OperatorError)
}

extension ImportTarget where Self: ~Copyable {
    /// See ``LineArchive/importLines(_:shouldContinue:)``.
    borrowing func importLines(
        _ nextLine: LineInput, shouldContinue: (ImportSummary) -> Bool
    ) throws(OperatorError) -> ImportSummary {
        var summary = ImportSummary()
        var reader = ImportBatchReader()
        while shouldContinue(summary) {
            let batch = try reader.next(nextLine)
            let owners = OwnerLines.grouped(batch.lines, at: SystemTime().wallMilliseconds)
            if !owners.isEmpty { try add(owners, &summary) }
            if let fault = batch.fault { throw fault }
            guard !batch.isLast else {
                summary.end = reader.isWhole ? .whole : .cut
                return summary
            }
        }
        return summary
    }
}
