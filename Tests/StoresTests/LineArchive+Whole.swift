import Platform
import TaskArchive

extension LineArchive {
    /// Exports everything; the number of tasks.
    func export(to output: LineOutput) throws(ArchiveError) -> Int {
        try export(to: output) { _ in true }.tasks
    }

    /// Imports all lines.
    func importLines(_ nextLine: LineInput) throws(ArchiveError) -> ImportSummary {
        try importLines(nextLine) { _ in true }
    }
}
