package import Basics
package import Platform

/// A database whose tasks can be exported and imported line by line; the lines are the same for every kind of database.
package protocol LineArchive: Sendable {
    func open(for use: TableUse) throws(OperatorError) -> any TaskTables
}

extension LineArchive {
    /// The number of all tasks now.
    package func countTasks() throws(OperatorError) -> Int { try open(for: .read).countTasks() }

    /// Gives every task to `output` as one line of JSON, without the line's end, ordered by owner and id.
    ///
    /// Goes owner by owner: all lines of one owner are adjacent and show one moment. Those of different owners may show
    /// different moments, since no transaction is kept open for a slow reader. Where the newest tasks of an owner are
    /// gone, a line with the `next` id follows, so that no id is ever given again. Idempotency keys that are remembered
    /// now are lines after the tasks of their owner. The last line says that the export is whole.
    ///
    /// - Parameters:
    ///   - output: takes a line.
    ///   - shouldContinue: called after every few owners with the number of exported tasks; false ends the export
    ///     without its last line.
    /// - Returns: the number of exported tasks, and whether those are all.
    /// - Throws: ``OperatorError``; the lines until then are good, but not whole.
    package func export(
        to output: LineOutput, shouldContinue: (Int) -> Bool
    ) throws(OperatorError) -> ExportSummary {
        try open(for: .read).export(to: output, shouldContinue: shouldContinue)
    }

    /// Adds the lines of an export, ids and times kept; existing tasks are skipped, and so are expired keys.
    ///
    /// So an import that ended early, for whatever reason, is continued by repeating it: lines that are imported already
    /// are only compared. A missing database is created, or its tables. Servers may use a PostgreSQL database meanwhile: the
    /// import adds in small transactions. A server that uses a SQLite file has to be stopped before. An empty line is skipped.
    ///
    /// - Parameters:
    ///   - nextLine: the next line without its end; nil at the end.
    ///   - shouldContinue: called after every transaction with what was done until then; false ends the import.
    /// - Returns: what was done, and how it ended.
    /// - Throws: ``OperatorError``; with `line`, the lines before that one are imported.
    package func importLines(
        _ nextLine: LineInput, shouldContinue: (ImportSummary) -> Bool
    ) throws(OperatorError) -> ImportSummary {
        try open(for: .fill).importLines(nextLine, shouldContinue: shouldContinue)
    }
}

/// What an export did.
package struct ExportSummary: Sendable, Equatable {
    /// How many tasks are exported.
    package let tasks: Int
    /// Whether those are all, and the last line is written.
    package let isWhole: Bool
}

/// What an import did.
package struct ImportSummary: Sendable, Equatable {
    /// How the lines ended.
    package enum End: Sendable, Equatable {
        /// With the last line of an export, which counted all that came before it.
        case whole
        /// Without it: the export was not finished, or lines were lost.
        case cut
        /// The import was stopped before the end of the lines.
        case stopped
    }

    /// Tasks that did not exist.
    package var added = 0
    /// Tasks whose owner and id existed: they stayed as they were.
    package var present = 0
    /// The present tasks that differ from the line, because they were changed since, or are other tasks.
    package var differing = 0
    /// How the lines ended.
    package var end = End.stopped

    package init() {}

    /// All tasks that were read.
    package var tasks: Int { added + present }
}
