@testable import TaskArchive
import JSON
import Support
import Tasks

/// Lines of an export: an accepted one is written again as the same line.
func checkArchive(_ input: [UInt8]) throws {
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    var read: [ArchiveLine] = []
    for line in lines {
        guard let value = try? ArchiveLine(parsing: line) else { continue }
        read.append(value)
        try require((try? ArchiveLine(parsing: value.json)) == value, "a line is read as it was written")
        try require(!value.json.contains(UInt8(ascii: "\n")), "a line is one line")
    }
    try checkGroups(read)
    try checkImport(lines)
}

private func checkGroups(_ lines: [ArchiveLine]) throws {
    let groups = ImportOwner.grouped(lines, at: 1_700_000_000_000)
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
