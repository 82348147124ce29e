import Glibc
import Platform
import SQLite
import Support
import Testing

@Suite("A copy of the database is restored") struct RestoreTests {
    @Test func `Of the copies of every night the newest stay, and one that fails removes none`() throws {
        let stage = try Stage()
        #expect(try stage.run(["migrate"]).end == .exit(0))
        let unit = String(decoding: try TestFile("../../deploy/task-server-backup.service").bytes(), as: UTF8.self)
        let (start, end) = ("ExecStart=/bin/sh -ec '", "'")
        let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix(start) && $0.hasSuffix(end) })
        // systemd reads $$ as $ and %% as %.
        let script = String(line.dropFirst(start.utf8.count).dropLast())
            .replacing("$$", with: "$").replacing("%%", with: "%")
        let programs = ChildProcess.built("task-server").dropLast("/task-server".utf8.count)
        let copies = "\(stage.folder)/copies"
        let settings = ["KEEP": "2", "COPIES": copies, "PATH": "\(programs):/usr/bin:/bin"]
        func night(_ changes: [String: String] = [:]) throws -> ChildProcess.End {
            let environment = stage.settings.merging(settings) { $1 }.merging(changes) { $1 }
            return try ChildProcess("/bin/sh", ["-ec", script], environment: environment).wait()
        }
        var names: [String] = []
        for count in 1...4 {
            #expect(try night() == .exit(0))
            let kept = try Folder.files(below: copies)
            #expect(kept.count == min(count, 2) && !names.contains(kept.last ?? ""), "\(kept)")
            names = kept
        }
        #expect(try night(["TASKS_DATABASE": "sqlite:\(stage.folder)/missing.db"]) == .exit(1))
        #expect(try Folder.files(below: copies) == names)
        #expect(try stage.run(["restore", "\(copies)/\(names[1])"]).end == .exit(0))
    }

    /// Writes the bytes into the file that has the name, as `cp` does.
    private func overwrite(_ path: String, with bytes: [UInt8]) throws {
        let file = open(path, O_WRONLY | O_TRUNC)
        #expect(file >= 0 && write(file, bytes, bytes.count) == bytes.count)
        close(file)
    }

    @Test func `A file that is overwritten is served no more, and restored while the server does not run`() throws {
        let stage = try Stage()
        let server = try stage.server()
        let (token, copy) = (try stage.token(), "\(stage.folder)/copy.db")
        #expect(try server.add("Copied", token: token).status == 201)
        #expect(try stage.run(["backup", copy]).end == .exit(0))
        #expect(try server.add("Later", token: token).status == 201)
        let running = try stage.run(["restore", copy])
        #expect(running.end == .exit(1) && running.errors.contains("; stop the server first"), "\(running)")
        #expect(try server.texts(token: token) == ["Copied", "Later"])
        // The server compares what it sees from one second to the next, so one that has just begun to look misses the
        // first.
        let bytes = try File.read(copy)
        try eventuallyBlocking("the server refuses to serve") {
            try overwrite(stage.database, with: bytes)
            return try server.ask("GET", "/api/tasks", token: token).status == 503
        }
        for port in [server.port, server.adminPort] {
            try eventuallyBlocking("not ready") { try exchange(port, "GET", "/readyz").status == 503 }
        }
        eventuallyBlocking("the log says why") {
            server.process.output.contains("was overwritten while the server runs")
        }
        #expect(try server.stop() == .exit(0))

        #expect(chmod(stage.database, 0o640) == 0)
        try File.replace(stage.database + "-wal", with: Array("the log of the earlier database".utf8))
        let (end, _, errors) = try stage.run(["restore", copy])
        let kept = stage.database + ".replaced"
        #expect(end == .exit(0), "\(errors)")
        #expect(errors.hasSuffix("tasks.db has 1 task of 1 person; the earlier database is \(kept) now\n"), "\(errors)")
        #expect(File.exists(kept) && File.exists(kept + "-wal"))
        for suffix in ["-wal", "-shm", ".restoring"] { #expect(!File.exists(stage.database + suffix), "\(suffix)") }
        var facts = stat()
        #expect(stat(stage.database, &facts) == 0 && facts.st_mode & 0o777 == 0o640 && facts.st_nlink == 1)
        let restored = try stage.server()
        #expect(try restored.texts(token: token) == ["Copied"])
        #expect(try restored.add("New", token: token).status == 201)
        #expect(try restored.stop() == .exit(0))
        // A server that ended left all in one file, so a copy of this file is whole.
        #expect(!File.exists(stage.database + "-wal"))
        try File.replace(copy, with: File.read(stage.database))
        #expect(try stage.run(["restore", copy]).errors.contains("has 2 tasks of 1 person; "))
        #expect(File.exists(kept + "-2"))
        #expect(try stage.server().texts(token: token) == ["Copied", "New"])
    }

    @Test func `What is no good copy is refused, and the database stays`() throws {
        let stage = try Stage()
        let server = try stage.server()
        let token = try stage.token()
        for number in 0..<200 { #expect(try server.add("\(number)", token: token).status == 201) }
        let copy = "\(stage.folder)/copy.db"
        #expect(try stage.run(["backup", copy]).end == .exit(0))
        #expect(try server.stop() == .exit(0))
        let before = try File.read(stage.database)
        let files = ["text", "damaged", "foreign", "empty"].map { "\(stage.folder)/\($0)" }
        try File.replace(files[0], with: Array(repeating: 0x20, count: 4096))
        var bytes = try File.read(copy)
        bytes.replaceSubrange((bytes.count / 2)..<(bytes.count / 2 + 4096), with: repeatElement(0xFF, count: 4096))
        try File.replace(files[1], with: bytes)
        do {
            let foreign = try Connection(path: files[2], mode: .readWriteCreate)
            try foreign.execute("CREATE TABLE tasks(a); PRAGMA user_version = 3")
        }
        try File.replace(files[3], with: [])
        for path in files + [stage.database, stage.folder, "/nowhere/copy.db"] {
            let (end, _, errors) = try stage.run(["restore", path])
            #expect(end == .exit(1) && errors.split(separator: "\n").count == 1, "\(path): \(errors)")
        }
        #expect(try File.read(stage.database) == before)
        #expect(!File.exists(stage.database + ".replaced") && !File.exists(stage.database + ".restoring"))
        #expect(try stage.run(["restore", copy], ["TASKS_DATABASE": "memory:"]).errors.contains("only a sqlite:PATH"))
        let fresh = "\(stage.folder)/fresh.db"
        let (end, _, errors) = try stage.run(["restore", copy], ["TASKS_DATABASE": "sqlite:\(fresh)"])
        #expect(end == .exit(0) && errors.hasSuffix("fresh.db has 200 tasks of 1 person\n"), "\(errors)")
    }
}
