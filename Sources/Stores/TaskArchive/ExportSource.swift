import Basics
import Platform
import Tasks

/// A database that is exported page by page.
protocol ExportSource: ~Copyable {
    /// The next owners in byte order; empty at the end, and then with a task only if that has no owner's row.
    borrowing func page(after owner: String) throws(ArchiveError) -> ExportPage
}

extension ExportSource where Self: ~Copyable {
    /// See ``LineArchive/export(_:to:shouldContinue:)``.
    borrowing func export(
        _ start: ExportStart, to output: LineOutput, shouldContinue: (Int) -> Bool
    ) throws(ArchiveError) -> ExportSummary {
        var position = start
        while shouldContinue(position.tasks) {
            let page = try page(after: position.owner)
            if let contradiction = page.contradiction { throw .failed(reason: contradiction) }
            try rethrowing(as: ArchiveError.file) { () throws(SystemError) in try page.write(output) }
            guard let last = page.owners.last else {
                let end = ArchiveLine.end(tasks: position.tasks, keys: position.keys)
                try rethrowing(as: ArchiveError.file) { () throws(SystemError) in try output(end.json) }
                return ExportSummary(tasks: position.tasks, isWhole: true)
            }
            position.owner = last.owner.identifier
            position.tasks += page.tasks.count
            position.keys += page.records.count
        }
        return ExportSummary(tasks: position.tasks, isWhole: false)
    }
}
