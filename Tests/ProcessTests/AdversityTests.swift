import Glibc
import Platform
import Support
import Testing

@Suite("A server in adversity") struct AdversityTests {
    @Test func `A database that the server may only read is refused`() throws {
        let stage = try Stage()
        #expect(try stage.server().stop() == .exit(0))
        #expect(chmod(stage.database, 0o444) == 0 && chmod(stage.folder, 0o555) == 0)
        defer { chmod(stage.folder, 0o755) }
        let program = try ordinaryUser(running: ChildProcess.built("task-server"), in: stage)
        let server = try ChildProcess(program[0], Array(program.dropFirst()), environment: stage.settings)
        #expect(try server.wait() == .exit(1))
        #expect(server.errors.contains("the database \(stage.database) cannot be"), "\(server.errors)")
    }

    @Test(arguments: ["-wal", "-shm"])
    func `A log that the server may only read is named, by the check and by the start`(companion: String) throws {
        let stage = try Stage()
        #expect(try stage.server().stop() == .exit(0))
        let log = stage.database + companion
        // The superuser owns the log, and the rest is the user's.
        if getuid() == 0 { try ChildProcess.run(script: "chown -R 65534:65534 \(stage.folder)") }
        try File.replace(log, with: [], mode: 0o444)
        for command in ["check", "serve"] {
            let program = try ordinaryUser(running: ChildProcess.built("task-server"), in: stage)
            let outcome = try ChildProcess(
                program[0], program.dropFirst() + [command], environment: stage.settings
            ).outcome()
            let refusal = "the database \(log) cannot be written (Permission denied)"
            #expect(outcome.end == .exit(1) && (outcome.output + outcome.errors).contains(refusal), "\(outcome)")
        }
    }

    @Test func `A server whose disk is full refuses additions, is not ready, continues, and recovers`() throws {
        let stage = try Stage()
        let disk = "\(stage.folder)/disk"
        try #require(mkdir(disk, 0o755) == 0)
        let library = try PreloadedLibrary.compile("system-faults", into: stage.folder)
        let settings = ["FULL_DISK": disk, "TASKS_DATABASE": "sqlite:\(disk)/tasks.db"]
        let server = try stage.server(PreloadedLibrary.environment(library).merging(settings) { $1 })
        let token = try stage.token()
        #expect(try server.add("Before", token: token).status == 201)
        try File.replace("\(disk).full", with: [])
        var (tasks, refusal) = (1, RawResponse?.none)
        while refusal == nil, tasks < 1000 {
            let answer = try server.add(String(repeating: "x", count: 4000), token: token)
            if answer.status == 201 { tasks += 1 } else { refusal = answer }
        }
        #expect(refusal?.status == 507)
        #expect(refusal?.text.contains("the server's operator must make room") == true, "\(refusal?.text ?? "")")
        func awaitReadiness(_ status: Int) throws {
            try eventuallyBlocking("/readyz is \(status)") { try server.ask("GET", "/readyz").status == status }
        }
        try awaitReadiness(503)
        #expect(try server.texts(token: token).count == tasks)
        #expect(try server.ask("GET", "/healthz").status == 200)
        File.remove("\(disk).full")
        try awaitReadiness(200)
        #expect(try server.add("Room again", token: token).status == 201)
        #expect(try server.texts(token: token).last == "Room again")
        #expect(try server.stop() == .exit(0))
        let lines = server.process.output.split(separator: "\n")
        for (event, count) in ["disk-full": 1, "commits-recovered": 1, "commit-failed": 0] {
            #expect(lines.count { $0.contains("\"event\":\"\(event)\"") } == count, "\(event)")
        }
    }

    /// Returns the command that runs a program as an ordinary user, since no file is read-only for the superuser.
    private func ordinaryUser(running program: String, in stage: Stage) throws -> [String] {
        guard getuid() == 0 else { return [program] }
        // The build folder may be closed to others; the folder of the test is not.
        let copy = "\(stage.folder)-program"
        try File.replace(copy, with: File.read(program, limit: 1 << 28), mode: 0o755)
        return [
            "/bin/bash", "-c",
            "trap 'rm -f \"$0\"' EXIT; setpriv --reuid=65534 --regid=65534 --clear-groups -- \"$0\" \"$@\"",
            copy,
        ]
    }
}

@Suite("A server killed while its log is copied into the database")
struct CheckpointCrashTests {
    @Test func `Every task that was answered is there, in its place, after kill -9 during a checkpoint`() throws {
        let stage = try Stage()
        let token = try stage.token()
        var texts: [String] = []
        // The server of each round is killed when the first pages of a checkpoint are in the file, or a bit later.
        for round in 0..<3 {
            let server = try stage.server()
            #expect(try server.texts(token: token) == texts)
            let size = try File.size(stage.database) ?? 0
            var rest = 4000
            while try File.size(stage.database) == size, rest > 0 {
                rest -= 1
                texts.append("task \(texts.count)")
                #expect(try server.add(texts.last ?? "", token: token).status == 201)
            }
            #expect(rest > 0, "no checkpoint in round \(round)")
            for _ in 0..<round {
                texts.append("one more \(texts.count)")
                #expect(try server.add(texts.last ?? "", token: token).status == 201)
            }
            server.process.send(SIGKILL)
            #expect(try server.process.wait() == .signal(SIGKILL))
        }
        let last = try stage.server()
        #expect(try last.texts(token: token) == texts)
        // A backup reads every page.
        #expect(try stage.run(["backup", "\(stage.folder)/copy.db"]).end == .exit(0))
    }
}
