import Glibc
import Platform
import Support
import Testing

@Suite("Faults of the system") struct SystemFaultTests {
    private let folder: TemporaryFolder
    private let library: String

    init() throws {
        folder = try TemporaryFolder()
        library = try PreloadedLibrary.compile("system-faults", into: folder.path)
    }

    private func settings(_ changes: [String: String]) -> [String: String] {
        PreloadedLibrary.environment(library).merging(changes) { $1 }
    }

    @Test func `A name server that does not answer delays a fetch until its deadline, and no longer (V-86)`() throws {
        let stage = try Stage()
        let start = ContinuousClock.now
        let (end, output, _) = try stage.run(
            ["check"],
            settings([
                "SILENT_NAME": "silent.example", "TASKS_POLICIES": "b2c_1_sign_in", "TASKS_KEY_CACHE_FILE": "off",
                "TASKS_AUTHORITY": "https://silent.example/\(Stage.tenant)",
            ]))
        let elapsed = start.duration(to: .now)
        #expect(end == .exit(1))
        #expect(output.contains("no answer in time: "), "\(output)")
        // The name server would answer after 30 seconds.
        #expect(elapsed > .milliseconds(1900) && elapsed < .seconds(25), "\(elapsed)")
    }

    @Test(arguments: [false, true])
    func `A key file that cannot be synchronized does not take the place of the old one, nor is its name kept (V-88)`(
        isFolder: Bool
    ) throws {
        let stage = try Stage()
        let folder = "\(stage.folder)/keys"
        let file = "\(folder)/keys.json"
        mkdir(folder, 0o700)
        let failing = isFolder ? "\(folder)/" : file
        let server = try stage.server(settings(["TASKS_KEY_CACHE_FILE": file, "FAILING_FSYNC": failing]))
        // A line of the log comes only if the system's answer is looked at.
        eventuallyBlocking { access(file, F_OK) == 0 || server.process.output.contains("key-file-not-written") }
        #expect(try server.stop() == .exit(0))
        #expect(server.process.output.contains("\"event\":\"key-file-not-written\""))
        #expect((access(file, F_OK) == 0) == isFolder)
    }

    @Test func `A database file that cannot be synchronized is reported once, and no task is lost`() throws {
        let stage = try Stage()
        #expect(try stage.server().stop() == .exit(0))
        let token = try stage.token()
        let server = try stage.server(settings(["FAILING_FSYNC": stage.database]))
        let text = String(repeating: "x", count: 1500)
        // These tasks are enough for a copy of the log, which is not tried again at each commit.
        for _ in 0..<1200 { #expect(try server.add(text, token: token).status == 201) }
        let event = "\"level\":\"error\",\"event\":\"checkpoint-failed\",\"reason\":\"disk I/O error (SQLite "
        _ = try server.process.await { $0.contains(event) ? true : nil }
        #expect(try server.stop() == .exit(0))
        #expect(server.process.output.ranges(of: "checkpoint-failed").count == 1)
        let after = try stage.server()
        let list = try after.ask("GET", "/api/tasks", token: token)
        #expect(list.text.ranges(of: "\"task\":\"\(text)\"").count == 1200)
        #expect(try after.stop() == .exit(0))
    }

    @Test func `A task is on the disk before its addition is answered, and so is each person who is moved`() throws {
        let stage = try Stage()
        let (notes, people, map) = ("\(stage.folder)/notes", "\(stage.folder)/people", "\(stage.folder)/map.csv")
        let noting = settings(["SYNCHRONIZED": notes])
        // A commit synchronizes the log.
        func commits() throws -> Int {
            guard File.exists(notes) else { return 0 }
            return String(decoding: try File.read(notes), as: UTF8.self).ranges(of: "\(stage.database)-wal\n").count
        }
        let server = try stage.server(noting)
        let token = try stage.token()
        for _ in 0..<5 {
            let before = try commits()
            #expect(try server.add("x", token: token).status == 201)
            #expect(try commits() > before)
        }
        #expect(try server.stop() == .exit(0))
        let lines = (1...9).map { "{\"owner\":\"old-\($0)\",\"next\":2}\n" } + ["{\"end\":true,\"tasks\":0}\n"]
        try File.replace(people, with: Array(lines.joined().utf8))
        try File.replace(map, with: Array((1...9).map { "old-\($0),new-\($0)\n" }.joined().utf8))
        #expect(try stage.run(["import", people]).end == .exit(0))
        let before = try commits()
        #expect(try stage.run(["move-owners", "--apply", map], noting).end == .exit(0))
        #expect(try commits() >= before + 9)
    }

    @Test func `A limit of open files that the system does not raise is the one that counts`() throws {
        let stage = try Stage()
        let program = ["/bin/sh", "-c", "ulimit -Sn 400; exec \"$0\"", ChildProcess.built("task-server")]
        let server = try stage.server(settings(["NO_MORE_FILES": "1"]), program: program)
        let line = "\"event\":\"few-open-files\",\"allowed\":400,"
        #expect(server.process.output.contains(line), "\(server.process.output)")
        #expect(try server.stop() == .exit(0))
    }

    @Test func `What libcrypto keeps for all threads outlives them, whoever uses it first`() throws {
        let staying = settings(["LIBCRYPTO_STAYS": "1"])
        let stage = try Stage(staying)
        let server = try stage.server(staying)
        #expect(try server.ask("GET", "/api/tasks", token: stage.token()).status == 200)
        #expect(try server.stop() == .exit(0))
        for (command, changes) in [
            (["check"], [:]), (["migrate"], ["TASKS_DATABASE": try PostgreSQLServer.started().newDatabase()]),
        ] {
            let (end, _, errors) = try stage.run(command, staying.merging(changes) { $1 })
            #expect(end == .exit(0), "\(command[0]): \(errors)")
        }
        stage.mock.send(SIGTERM)
        #expect(try stage.mock.wait() == .exit(0))
    }

    @Test func `Import, backup and export let the disk keep up, so that commits find it free`() throws {
        let stage = try Stage()
        let lines = "\(stage.folder)/people.jsonl"
        let text = String(repeating: "x", count: 4000)
        let tasks = (1...2000).map { exportLine("someone", $0, text) }
        let all = tasks + ["{\"owner\":\"someone\",\"next\":2001}", "{\"end\":true,\"tasks\":2000}"]
        try File.replace(lines, with: Array((all.joined(separator: "\n") + "\n").utf8))
        for (command, paced) in [
            (["import", lines], stage.database), (["backup", "\(stage.folder)/copy"], "\(stage.folder)/copy"),
            (["export", "\(stage.folder)/export"], "\(stage.folder)/export"),
        ] {
            let (end, _, errors) = try stage.run(command, settings(["PACED_FILE": paced]))
            #expect(end == .exit(0), "\(command[0]): \(errors)")
        }
    }
}
