import Glibc
import Platform
import Support
import Testing

@testable import TaskServer

@Suite("The progress of an export or an import") struct ProgressTests {
    @Test func `The text says how much of how much is done, and from the first second on how long the rest takes`() {
        let people = Progress(unit: "people", total: 400)
        #expect(people.text(100, after: 0.9) == "100 of 400 people")
        #expect(people.text(100, after: 2) == "100 of 400 people, 6 s left")
        #expect(people.text(1, after: 10) == "1 of 400 people, 67 min left")
        // Servers of PostgreSQL add tasks meanwhile.
        #expect(people.text(401, after: 8) == "401 of 401 people")
        #expect(Progress(unit: "people", total: 0).text(0, after: 8) == "0 of 0 people")
        let tasks = Progress(unit: "tasks")
        #expect(tasks.text(70, part: 0.5, after: 3) == "70 tasks, 50 %, 3 s left")
        #expect(tasks.text(70, part: 1.5, after: 3) == "70 tasks, 100 %")
        #expect(tasks.text(70, after: 3) == "70 tasks")
    }

    @Test func `A terminal shows the progress in one line before the last message`() throws {
        let mover = try Mover()
        let tasks = try mover.write(people: 700, to: "lines.jsonl")
        let (database, lines) = (mover.database("tasks.db"), mover.file("lines.jsonl"))
        let input = try mover.onTerminal("import \(lines)", on: database)
        let output = try mover.onTerminal("export \(mover.file("out.jsonl"))", on: database)
        let piped = try mover.onTerminal("import", on: database, piped: lines)
        for (run, whole) in [(input, ", "), (output, " of \(tasks) "), (piped, "")] {
            let (end, shown) = run
            #expect(end == .exit(0), "\(shown)")
            let shownLines = shown.split(separator: "\r\n")
            #expect(shownLines.count == 2 && shownLines.last?.hasPrefix("task-server: ") == true, "\(shown)")
            // The line is drawn over and over, and the last state stays on the screen.
            let states = shownLines[0].split(separator: "\r")
            #expect(states.allSatisfy { $0.contains("tasks") && $0.contains(whole) }, "\(shown)")
            #expect(!whole.isEmpty || states.allSatisfy { !$0.contains("%") }, "\(shown)")
            let counts = states.map { $0.split(separator: " ")[0] }
            #expect(counts.first == "0" && (counts.last.flatMap { Int($0) } ?? .max) <= tasks, "\(shown)")
        }
    }

    /// Waits until the program has written this many bytes to a file.
    private func waitUntil(_ program: ChildProcess, _ path: String, toHave count: Int) throws {
        _ = try program.await { (_) -> Bool? in
            guard let size = try? File.size(path), size >= count else { return nil }
            return true
        }
    }

    @Test(arguments: [SIGINT: Int32(130), SIGTERM: 143, SIGHUP: 129])
    func `A signal ends the command with its progress and how to continue`(signal: Int32, code: Int32) throws {
        let mover = try Mover()
        try mover.write(people: 2500, to: "lines.jsonl", many: 2600, ofEach: 2000)
        let database = mover.database("tasks.db")
        let program = try mover.start(["import", mover.file("lines.jsonl")], on: database)
        // At this size of the log, some tasks are imported.
        try waitUntil(program, "\(mover.file("tasks.db"))-wal", toHave: 100_000)
        program.send(signal)
        #expect(try program.wait() == .exit(code))
        #expect(program.errors.hasPrefix("task-server: stopped: "), "\(program.errors)")
        #expect(program.errors.contains("; import the same lines again"), "\(program.errors)")
        // All signals are handled alike, and an export differs from an import only in its advice.
        guard signal == SIGINT else { return }
        #expect(try mover.run(["import", mover.file("lines.jsonl")], on: database).end == .exit(0))

        let target = mover.file("out.jsonl")
        let export = try mover.start(["export", target], on: database)
        try waitUntil(export, "\(target).part", toHave: 1)
        export.send(signal)
        #expect(try export.wait() == .exit(code))
        #expect(export.errors.contains("there is no file \(target) yet: export again"), "\(export.errors)")
        #expect(!File.exists(target) && !File.exists("\(target).part"))
        #expect(try mover.run(["export", target], on: database).end == .exit(0))
        #expect(try mover.bytes("out.jsonl") == mover.bytes("lines.jsonl"))
    }

    @Test func `A command that was started with nohup outlives its terminal`() throws {
        let mover = try Mover()
        let pipe = OpenPipe(mover.file("pipe"))
        // A program that nohup starts ignores SIGHUP, too.
        let command = "trap '' HUP; exec \(ChildProcess.built("task-server")) import \(pipe.path)"
        let program = try ChildProcess(
            "/bin/sh", ["-c", command], environment: ["TASKS_DATABASE": mover.database("tasks.db")])
        // These lines are more than one transaction.
        let lines = String(repeating: "{\"owner\":\"o\",\"next\":7}\n", count: 1500)
        try pipe.feed(lines.utf8, to: program)
        program.send(SIGHUP)
        try pipe.feed((lines + "{\"end\":true,\"tasks\":0}\n").utf8, to: program)
        pipe.close()
        #expect(try program.wait() == .exit(0))
        #expect(program.errors == "task-server: 0 tasks imported, 0 existed\n")
    }
}
