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
