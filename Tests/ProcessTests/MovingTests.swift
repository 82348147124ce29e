import Glibc
import Platform
import Support
import Testing

@Suite("Data that moves between databases") struct MovingTests {
    @Test(arguments: [false, true])
    func `Each task is imported once, however often the import is killed`(shared: Bool) throws {
        let mover = try Mover()
        let target = shared ? try PostgreSQLServer.started().newDatabase() : mover.database("target.db")
        try mover.write(people: 700, to: "lines.jsonl")
        let lines = try mover.bytes("lines.jsonl")
        let ends = lines.indices.filter { lines[$0] == UInt8(ascii: "\n") }
        var counts: [Int] = []
        // A transaction has a thousand lines. Some kills come when the lines are read, some when all may be written.
        for (round, count) in [1, 700, 1001, 1900, 2001, 2600, 3300, 4100].enumerated() {
            try mover.importing(lines[...ends[count]], on: target) { (program) throws -> Void in
                usleep(UInt32(round % 3) * 20_000)
                program.send(SIGKILL)
                #expect(try program.wait() == .signal(SIGKILL))
            }
            counts.append(mover.count("SELECT count(*) FROM tasks", in: target))
        }
        #expect(counts == counts.sorted() && (counts.last ?? 0) > 0 && Set(counts).count > 2, "\(counts)")
        let (end, _, errors) = try mover.run(["import", mover.file("lines.jsonl")], on: target)
        #expect(end == .exit(0) && !errors.contains("other contents"), "\(errors)")
        #expect(try mover.run(["export", mover.file("back.jsonl")], on: target).end == .exit(0))
        #expect(try mover.bytes("back.jsonl") == mover.bytes("lines.jsonl"))
    }

    @Test func `An export that is killed leaves no file of its name, and the next one is whole`() throws {
        let mover = try Mover()
        let source = mover.database("source.db")
        try mover.write(people: 2100, to: "lines.jsonl", many: 2600, ofEach: 2000)
        #expect(try mover.run(["import", mover.file("lines.jsonl")], on: source).end == .exit(0))
        let target = mover.file("out.jsonl")
        var kills = 0
        for _ in 0..<20 where kills < 3 {
            let program = try mover.start(["export", target], on: source)
            // The kill comes as soon as the program has begun to write.
            eventuallyBlocking("a part of the file, or all of it") {
                (try? File.size("\(target).part")).flatMap { $0 } ?? 0 > 0 || File.exists(target)
            }
            program.send(SIGKILL)
            if try program.wait() == .signal(SIGKILL), !File.exists(target) { kills += 1 }
            File.remove(target)
        }
        #expect(kills == 3)
        let (end, _, errors) = try mover.run(["export", target], on: source)
        #expect(end == .exit(0), "\(errors)")
        #expect(try mover.bytes("out.jsonl") == mover.bytes("lines.jsonl"))
        #expect(!File.exists("\(target).part"))
    }

    @Test func `An export writes over what an earlier one has left, and replaces no file`() throws {
        let mover = try Mover()
        try mover.write(people: 300, to: "lines.jsonl")
        let (source, target) = (mover.database("source.db"), mover.file("out.jsonl"))
        #expect(try mover.run(["import", mover.file("lines.jsonl")], on: source).end == .exit(0))
        let lines = try mover.bytes("lines.jsonl")
        try File.replace("\(target).part", with: lines + lines)
        #expect(try mover.run(["export", target], on: source).end == .exit(0))
        #expect(try mover.bytes("out.jsonl") == lines)
        let again = try mover.run(["export", target], on: source)
        #expect(again.end == .exit(1) && again.errors.contains("it exists, and is not replaced"), "\(again.errors)")
        File.remove(target)
        let other = try FileLock(path: "\(target).part")
        let busy = try mover.run(["export", target], on: source)
        #expect(busy.end == .exit(1) && busy.errors.contains("another program is writing it"), "\(busy.errors)")
        _ = consume other
        #expect(try mover.run(["export", target, "more"], on: source).end == .exit(78))
    }

    @Test func `An import finishes although the database is lost on the way`() throws {
        let mover = try Mover()
        let tasks = try mover.write(people: 1500, to: "lines.jsonl")
        let server = try PostgreSQLServer()
        let target = try server.newDatabase()
        let name = PostgreSQLServer.name(of: target)
        let program = try mover.start(["import", mover.file("lines.jsonl")], on: target)
        _ = try program.await { (_) -> Bool? in
            let count = try? server.command("SELECT count(*) FROM tasks", in: name)
            return count.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0 > 0 ? true : nil
        }
        try server.kill9()
        #expect(try program.wait() == .exit(1))
        #expect(program.errors.contains("; import the same lines again to continue"), "\(program.errors)")
        try server.startAgain()
        let (end, _, errors) = try mover.run(["import", mover.file("lines.jsonl")], on: target)
        #expect(end == .exit(0) && !errors.contains("task-server: \(tasks) tasks"), "\(errors)")
        #expect(try mover.run(["export", mover.file("back.jsonl")], on: target).end == .exit(0))
        #expect(try mover.bytes("back.jsonl") == mover.bytes("lines.jsonl"))
    }

    @Test func `An export that finds no room leaves nothing, and is repeated when there is room`() throws {
        let mover = try Mover()
        try mover.write(people: 2100, to: "lines.jsonl", many: 2600, ofEach: 2000)
        let (source, target) = (mover.database("source.db"), mover.file("out.jsonl"))
        #expect(try mover.run(["import", mover.file("lines.jsonl")], on: source).end == .exit(0))
        // The shell limits files to this many KiB. The shared memory of SQLite has to fit in.
        let command = "ulimit -f 600; exec \(ChildProcess.built("task-server")) export \(target)"
        let limited = try ChildProcess("/bin/bash", ["-c", command], environment: ["TASKS_DATABASE": source])
        #expect(try limited.wait() == .exit(1))
        let message = "File too large; there is no file \(target) yet: export again"
        #expect(limited.errors.contains(message), "\(limited.errors)")
        #expect(!File.exists(target) && !File.exists("\(target).part"))
        #expect(try mover.run(["export", target], on: source).end == .exit(0))
        #expect(try mover.bytes("out.jsonl") == mover.bytes("lines.jsonl"))
    }
}
