import Basics
import Platform
import Tasks

/// A database that is exported page by page.
protocol ExportSource: ~Copyable {
    /// The next owners in byte order; empty at the end, and then with a task only if that has no owner's row.
    borrowing func page(after owner: String) throws(OperatorError) -> ExportPage
}

extension ExportSource where Self: ~Copyable {
    /// See ``LineArchive/export(to:shouldContinue:)``.
    borrowing func export(
        to output: LineOutput, shouldContinue: (Int) -> Bool
    ) throws(OperatorError) -> ExportSummary {
        var (owner, tasks, keys) = ("", 0, 0)
        while shouldContinue(tasks) {
            let page = try page(after: owner)
            if let contradiction = page.contradiction { throw .databaseFailed(contradiction) }
            try rethrowing(as: OperatorError.init) { () throws(SystemError) in try page.write(output) }
            guard let last = page.owners.last else {
                let end = ArchiveLine.end(tasks: tasks, keys: keys)
                try rethrowing(as: OperatorError.init) { () throws(SystemError) in try output(end.json) }
                return ExportSummary(tasks: tasks, isWhole: true)
            }
            owner = last.owner.identifier
            tasks += page.tasks.count
            keys += page.records.count
        }
        return ExportSummary(tasks: tasks, isWhole: false)
    }
}
