import Basics
import Platform
import Support
import Testing

@Suite("A person whom an operator deletes") struct DeleteOwnerTests {
    private static let owner = "11111111-1111-4111-8111-11111111111a"

    /// A database with 600 tasks and a key of the owner, and a task of somebody else.
    private func database(_ mover: Mover, shared: Bool) throws -> String {
        let database = shared ? try PostgreSQLServer.started().newDatabase() : mover.database("tasks.db")
        let added = Timestamp(milliseconds: SystemTime().wallMilliseconds).text
        var lines = (1...600).map { exportLine(Self.owner, $0, "secret \($0)") }
        lines.append(
            #"{"owner":"\#(Self.owner)","key":"k","fingerprint":"1","id":600,"text":"secret","completed":false,"#
                + #""created":"\#(added)"}"#)
        lines += [exportLine("other", 1, "stays"), #"{"end":true,"tasks":601,"keys":1}"#]
        try File.replace(mover.file("lines.jsonl"), with: Array(lines.map { $0 + "\n" }.joined().utf8))
        #expect(try mover.run(["import", mover.file("lines.jsonl")], on: database).end == .exit(0))
        return database
    }

    @Test("A dry run says what is there, and --apply deletes it and nothing else", arguments: [false, true])
    func deleted(shared: Bool) throws {
        let mover = try Mover()
        let database = try database(mover, shared: shared)
        let before = try mover.run(["export"], on: database).output
        let dry = try mover.run(["delete-owner", Self.owner.uppercased()], on: database)
        #expect(dry.end == .exit(0) && dry.errors == "", "\(dry)")
        #expect(
            dry.output
                == "\(Self.owner) has 600 tasks and 1 idempotency key. This is a dry run: nothing is changed. With --apply they "
                + "are deleted for good.\n")
        #expect(try mover.run(["export"], on: database).output == before)
        let done = try mover.run(["delete-owner", "--apply", Self.owner], on: database)
        #expect(done.end == .exit(0) && done.errors == "", "\(done)")
        #expect(done.output.hasPrefix("600 tasks and 1 idempotency key of \(Self.owner) deleted. "), "\(done)")
        let lines = try mover.run(["export"], on: database).output.split(separator: "\n")
        let left = #"{"owner":"\#(Self.owner)","next":601}"#
        #expect(lines.dropLast().elementsEqual([left, exportLine("other", 1, "stays")]) { $0 == $1 })
        let marks = "SELECT count(*) FROM owners WHERE deleted IS NOT NULL AND first_id = 601"
        #expect(mover.count(marks, in: database) == 1)
        let again = try mover.run(["delete-owner", "--apply", Self.owner], on: database)
        #expect(again.output.hasPrefix("0 tasks and 0 idempotency keys "), "\(again)")
        if !shared {
            #expect(try !String(decoding: mover.bytes("tasks.db"), as: UTF8.self).contains("secret"))
            #expect(!File.exists(mover.file("tasks.db-wal")))
        }
    }

    @Test("One person is exported alone", arguments: [false, true])
    func exported(shared: Bool) throws {
        let mover = try Mover()
        let database = try database(mover, shared: shared)
        let one = try mover.run(["export", "--owner", Self.owner], on: database)
        #expect(one.end == .exit(0) && one.errors == "task-server: 600 tasks exported\n", "\(one.errors)")
        let lines = one.output.split(separator: "\n")
        #expect(lines.count == 602 && lines.last == #"{"end":true,"tasks":600,"keys":1}"#)
        #expect(lines.dropLast().allSatisfy { $0.contains(#""owner":"\#(Self.owner)""#) })
        let file = mover.file("one.jsonl")
        #expect(try mover.run(["export", "--owner=other", file], on: database).end == .exit(0))
        let text = String(decoding: try mover.bytes("one.jsonl"), as: UTF8.self)
        #expect(text.hasPrefix(exportLine("other", 1, "stays")))
    }

    @Test func `An owner whom the database does not know, and flags of other commands, are refused`() throws {
        let mover = try Mover()
        let database = try database(mover, shared: false)
        for arguments in [["delete-owner", "--apply", "nobody"], ["export", "--owner", "nobody"]] {
            let refused = try mover.run(arguments, on: database)
            #expect(refused.end == .exit(1) && refused.output == "", "\(refused)")
            #expect(refused.errors.contains("the database knows no owner nobody; an owner is the oid"), "\(refused)")
        }
        for arguments in [
            ["delete-owner", "--merge", "other"], ["import", "--owner", "other"], ["export", "--apply"],
        ] {
            #expect(try mover.run(arguments, on: database).end == .exit(78), "\(arguments)")
        }
    }
}
