@testable import TaskArchive
import JSON
import Support
import Tasks

/// Lines of an export: an accepted one is written again as the same line, and both readers agree.
func checkArchive(_ input: [UInt8]) throws {
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    var read: [ArchiveLine] = []
    for line in lines {
        try checkReaders(line)
        guard let value = try? ArchiveLine(parsing: line) else { continue }
        read.append(value)
        try require((try? ArchiveLine(parsing: value.json)) == value, "a line is read as it was written")
        try require(!value.json.contains(UInt8(ascii: "\n")), "a line is one line")
    }
    try checkGroups(read)
    try checkImport(lines)
    try checkPartialExport(input)
}

/// The reader of the usual form and the JSON library; a space at the start is for the latter alone.
private func checkReaders(_ line: [UInt8]) throws {
    guard PlainJSONReader.members(in: line) != nil, let value = try? ArchiveLine(parsing: line) else { return }
    try require((try? ArchiveLine(parsing: [UInt8(ascii: " ")] + line)) == value, "both readers of a line agree")
}

private func checkGroups(_ lines: [ArchiveLine]) throws {
    let groups = OwnerLines.grouped(lines, at: 1_700_000_000_000)
    let tasks = lines.count { if case .task = $0 { true } else { false } }
    try require(groups.reduce(0) { $0 + $1.items.count } == tasks, "every task has its owner")
    for group in groups {
        try require(group.items.allSatisfy { $0.id < group.next }, "no id is given again")
    }
}

private func checkImport(_ lines: [[UInt8]]) throws {
    var reader = ImportBatchReader()
    var rest = lines[...]
    var batch = ImportBatchReader.Batch()
    repeat {
        batch = try reader.next { rest.popFirst() }
    } while !batch.isLast && batch.fault == nil
    guard reader.isWhole, batch.fault == nil, let last = lines.last(where: { !$0.isEmpty }) else { return }
    guard case .end? = try? ArchiveLine(parsing: last) else {
        throw BrokenInvariant(description: "a whole export ends with the line that says so")
    }
}

/// The file of an unfinished export: the part of it that is used ends where a line ends.
private func checkPartialExport(_ input: [UInt8]) throws {
    let file = try FuzzFile.shared.holding(input)
    guard let partial = try PartialExport(of: file) else { return }
    try require((0...input.count).contains(partial.bytes), "the used part is in the file")
    if partial.bytes > 0 {
        try require(input[partial.bytes - 1] == UInt8(ascii: "\n"), "the used part ends with a line")
    }
}
