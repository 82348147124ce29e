public import Platform

/// A database whose tasks can be written out and read in line by line; the lines are the same for every kind.
public protocol LineArchive: Sendable {
    /// Hands every task over as one line of JSON, without the line's end; the number of tasks.
    func export(to output: ([UInt8]) throws(SystemError) -> Void) throws(ArchiveError) -> Int

    /// Adds the lines of an export, ids and times kept; repeating it changes nothing.
    func importLines(_ nextLine: () throws(SystemError) -> [UInt8]?) throws(ArchiveError) -> ImportSummary
}
