import Basics
import Platform
import TaskArchive

extension LineArchive {
    /// Exports everything; the number of tasks.
    func export(to output: LineOutput) throws(OperatorError) -> Int {
        try export(to: output) { _ in true }.tasks
    }

    /// Imports all lines.
    func importLines(_ nextLine: LineInput) throws(OperatorError) -> ImportSummary {
        try importLines(nextLine) { _ in true }
    }
}
