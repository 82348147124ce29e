package import Platform

/// A database whose tasks can be written out and read in line by line; the lines are the same for every kind.
package protocol LineArchive: Sendable {
    /// The number of all tasks now.
    func countTasks() throws(ArchiveError) -> Int

    /// Hands every task over as one line of JSON, without the line's end, ordered by owner and id.
    ///
    /// Goes person by person: all lines of one show one moment, and stand together. Those of different people may show
    /// different moments, since no transaction is kept open while a slow reader takes its time. Where the newest tasks
    /// of a person are gone, a line with the `next` id follows, so that no id is ever given again. Idempotency keys that
    /// are remembered now are lines behind the tasks of their owner. The last line says that the export is whole.
    ///
    /// - Parameters:
    ///   - start: where to begin: at the start, or behind the people that an earlier export has.
    ///   - output: takes a line.
    ///   - goOn: is told after every few people how many tasks are out; false ends the export without its last line.
    /// - Returns: how many tasks are out, and whether that is all.
    /// - Throws: ``ArchiveError``; what is out then is good, but not whole.
    func export(
        _ start: ExportStart, to output: LineOutput, goOn: (Int) -> Bool
    ) throws(ArchiveError) -> ExportSummary

    /// Adds the lines of an export, ids and times kept; what is there is passed over, and so is a key of other days.
    ///
    /// So an import that ended in the middle, however it ended, is gone on with by doing it again: a stretch of lines
    /// that is in already is only read. A missing database is made, or its tables. Beside a running server it adds in
    /// small transactions, between which the server goes on. An empty line is skipped.
    ///
    /// - Parameters:
    ///   - nextLine: the next line without its end; nil at the end.
    ///   - goOn: is told after every transaction what is done; false ends the import.
    /// - Returns: what was done, and how it ended.
    /// - Throws: ``ArchiveError``; with `line`, what stood before that line is in.
    func importLines(
        _ nextLine: LineInput, goOn: (ImportSummary) -> Bool
    ) throws(ArchiveError) -> ImportSummary
}

extension LineArchive {
    /// The whole export, as ``export(_:to:goOn:)`` does it; the number of tasks.
    package func export(to output: LineOutput) throws(ArchiveError) -> Int {
        try export(ExportStart(), to: output) { _ in true }.tasks
    }

    /// The whole import, as ``importLines(_:goOn:)`` does it.
    package func importLines(
        _ nextLine: LineInput
    ) throws(ArchiveError) -> ImportSummary {
        try importLines(nextLine) { _ in true }
    }
}

/// Where an export begins.
package struct ExportStart: Sendable, Equatable {
    /// The last person who is out already; empty at the start.
    package var owner = ""
    /// How many tasks are out already.
    package var tasks = 0
    /// How many idempotency keys are out already.
    package var keys = 0

    /// At the start.
    package init() {}
}

/// What an export did.
package struct ExportSummary: Sendable, Equatable {
    /// How many tasks are out, with those of an earlier part.
    package let tasks: Int
    /// Whether it is all, with its last line.
    package let isWhole: Bool
}

/// What an import did.
package struct ImportSummary: Sendable, Equatable {
    /// How the lines ended.
    package enum End: Sendable, Equatable {
        /// With the last line of an export, which counted all that came before it.
        case whole
        /// Without it: the export was not finished, or lines were lost on the way.
        case cut
        /// They were not read to the end, because nobody wanted to go on.
        case stopped
    }

    /// Tasks that were not there.
    package var added = 0
    /// Tasks whose owner and id were there: they stayed as they were.
    package var present = 0
    /// Those of the present that differ from the line, because they were changed since, or are other tasks.
    package var differing = 0
    /// How the lines ended.
    package var end = End.stopped

    /// Nothing yet.
    package init() {}

    /// All tasks that were read.
    package var tasks: Int { added + present }
}
