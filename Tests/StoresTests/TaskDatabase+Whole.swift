import Basics
import Platform
import TaskArchive
import Tasks

extension TaskDatabase {
    /// Exports everything; the number of tasks.
    func export(to output: LineOutput) throws(OperatorError) -> Int {
        try export(to: output) { _ in true }.tasks
    }

    /// Exports until the closure returns false.
    func export(to output: LineOutput, shouldContinue: (Int) -> Bool) throws(OperatorError) -> ExportSummary {
        try open(for: .read).export(to: output, shouldContinue: shouldContinue)
    }

    /// Imports all lines.
    func importLines(_ nextLine: LineInput) throws(OperatorError) -> ImportSummary {
        try importLines(nextLine) { _ in true }
    }

    /// Imports until the closure returns false.
    func importLines(
        _ nextLine: LineInput, shouldContinue: (ImportSummary) -> Bool
    ) throws(OperatorError) -> ImportSummary {
        try open(for: .fill).importLines(nextLine, shouldContinue: shouldContinue)
    }

    /// The number of all tasks now.
    func countTasks() throws(OperatorError) -> Int { try export { _ in } }

    /// The lines of an export.
    func lines() throws(OperatorError) -> [String] {
        var lines: [String] = []
        _ = try export { (line: [UInt8]) throws(SystemError) in lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    /// Imports these lines.
    func add(_ lines: [String]) throws(OperatorError) -> ImportSummary {
        var rest = lines[...]
        return try importLines { () throws(SystemError) in rest.popFirst().map { Array($0.utf8) } }
    }
}
