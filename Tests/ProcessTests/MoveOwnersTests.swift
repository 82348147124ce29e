import Glibc
import HTTP
import JSON
import Platform
import Support
import Testing

@Suite("People who are moved to other owners") struct MoveOwnersTests {
    private static let old = "11111111-1111-4111-8111-111111111111"
    private static let new = "ext:22222222-2222-4222-8222-222222222222"

    /// The lines of an export: a task of each owner.
    private func lines(_ owners: [String]) -> String {
        let lines = owners.map { exportLine($0, 1, "of \($0)") }
        return (lines + [#"{"end":true,"tasks":\#(lines.count)}"#]).map { $0 + "\n" }.joined()
    }

    private func run(
        _ mover: Mover, _ arguments: [String], on database: String, sources: String = "ext"
    ) throws -> ChildProcess.Outcome {
        try mover.run(["move-owners"] + arguments, on: database, sources: sources)
    }

    /// A database with a task of each of these owners.
    private func database(_ mover: Mover, shared: Bool, _ owners: [String]) throws -> String {
        let database = shared ? try PostgreSQLServer.started().newDatabase() : mover.database("tasks.db")
        try File.replace(mover.file("lines.jsonl"), with: Array(lines(owners).utf8))
        #expect(try mover.run(["import", mover.file("lines.jsonl")], on: database).end == .exit(0))
        return database
    }

    private func map(_ mover: Mover, _ lines: [String]) throws -> String {
        try File.replace(mover.file("map.csv"), with: Array(lines.map { $0 + "\n" }.joined().utf8))
        return mover.file("map.csv")
    }

    @Test func `A dry run says what a move does, and changes nothing`() throws {
        let mover = try Mover()
        let database = try database(mover, shared: false, [Self.old, "b", "c", "ext:b", "ext:other", "left"])
        let map = try map(mover, ["old,new", "\(Self.old),\(Self.new)", "b,ext:b", "none,ext:none", "c,ext:c"])
        #expect(try mover.run(["export", mover.file("before.jsonl")], on: database).end == .exit(0))
        let list = mover.file("unmapped.txt")
        let dry = try run(mover, ["--list-unmapped", list, map], on: database)
        #expect(dry.end == .exit(0) && dry.errors == "", "\(dry)")
        let rest = """
            1 person without tasks to move: moved before, or never had any
                line 4: none
            1 person with tasks not in the map
                left with 1 task
            1 person of the source ext not in the map, which moves no one from there

            """
        #expect(
            dry.output
                == """
                4 people in the map. This is a dry run: nothing is changed. With --apply:
                2 people would move, with 2 tasks
                1 person would stay: the new owner has tasks. --merge puts both lists together
                    line 3: b with 1 task, ext:b with 1 task
                \(rest)
                """)
        #expect(String(decoding: try mover.bytes("unmapped.txt"), as: UTF8.self) == "ext:other\nleft\n")
        #expect(try run(mover, ["--list-unmapped", list, map], on: database).end == .exit(1))
        #expect(try mover.run(["export", mover.file("after.jsonl")], on: database).end == .exit(0))
        #expect(try mover.bytes("before.jsonl") == mover.bytes("after.jsonl"))

        let done = try run(mover, ["--apply", map], on: database)
        #expect(
            done.end == .exit(1) && done.output.contains("\n2 people moved, with 2 tasks\n1 person stayed: "), "\(done)"
        )
        let merged = try run(mover, ["--apply", "--merge", map], on: database)
        #expect(merged.end == .exit(0), "\(merged)")
        #expect(merged.output.contains("1 person moved, with 1 task to owners who have tasks"), "\(merged)")
        #expect(merged.output.contains("1 person of these got new ids"), "\(merged)")
        let again = try run(mover, ["--apply", map], on: database)
        #expect(
            again.end == .exit(0) && again.output.contains("0 people moved, with 0 tasks\n4 people without"), "\(again)"
        )
    }

    @Test func `How to continue a stopped move says so of a list that is written already`() throws {
        let mover = try Mover()
        let database = try database(mover, shared: false, ["a"])
        let pipe = OpenPipe(mover.file("pipe"))
        let list = mover.file("unmapped.txt")
        let program = try mover.start(["move-owners", "--apply", "--list-unmapped", list, pipe.path], on: database)
        try pipe.feed("a,b\n".utf8, to: program)
        program.send(SIGINT)
        #expect(try program.wait() == .exit(130))
        let advice = "run the same command again, without --list-unmapped once \(list) exists, to continue: "
        #expect(program.errors.contains(advice), "\(program.errors)")
    }

    @Test func `Every mistake of a map is reported with its line, and what may be one is a warning`() throws {
        let mover = try Mover()
        let database = try database(mover, shared: false, ["a", "b"])
        let path = try map(mover, ["a,z", "wrong", "b,z"])
        let refused = try run(mover, ["--apply", path], on: database)
        #expect(refused.end == .exit(1) && refused.output == "")
        let mistakes = refused.errors.split(separator: "\n")
        #expect(mistakes.count == 3, "\(mistakes)")
        #expect(
            mistakes.first == "task-server: \(path), line 2: not two columns, the old owner, a comma and the new owner")
        #expect(mistakes.last == "task-server: the map has mistakes, and nothing was changed.")
        #expect(try run(mover, ["--apply", path], on: "memory:").errors.contains("nothing to copy or move in memory"))
        #expect(try run(mover, ["--apply", mover.file("none")], on: database).errors.contains("No such file"))
        let missing = try run(mover, ["--apply", try map(mover, ["a,b"])], on: mover.database("none.db"))
        #expect(missing.end == .exit(1) && missing.errors.contains("there is no database"), "\(missing)")
        #expect(try mover.run(["export", "--apply"], on: database).end == .exit(78))
        #expect(try mover.run(["move-owners"], on: database).end == .exit(78))
        // The name of the source may be missing before a new owner.
        let doubtful = try run(mover, [try map(mover, ["a,ext:a", "b,y"])], on: database)
        let warning = "warning: \(path), line 2: 1 person would stay with the source"
        #expect(doubtful.end == .exit(0) && doubtful.errors.contains(warning), "\(doubtful)")
    }

    @Test(arguments: [["a,ext:a", "b,ext:b"], ["ext:a,a", "ext:b,other:b"]])
    func `An owner of a source that is not configured is refused, unless a flag says otherwise`(lines: [String]) throws
    {
        let mover = try Mover()
        let owners = lines.map { String($0.prefix { $0 != "," }) }
        let database = try database(mover, shared: false, owners)
        let map = try map(mover, ["old,new"] + lines)
        #expect(try mover.run(["export", mover.file("before.jsonl")], on: database).end == .exit(0))
        let isForeign = lines[1].hasSuffix("other:b")
        let name = isForeign ? "other" : "ext"
        for apply in [[], ["--apply"]] {
            let refused = try run(mover, apply + [map], on: database, sources: isForeign ? "ext" : "exx")
            #expect(refused.end == .exit(1) && refused.output == "", "\(refused)")
            let line = "\(map), line \(isForeign ? 3 : 2): no source of these settings has the namespace \(name):"
            #expect(refused.errors.contains(line), "\(refused.errors)")
            #expect(refused.errors.contains("TASKS_SOURCES") && refused.errors.contains("--any-namespace"))
        }
        #expect(try mover.run(["export", mover.file("after.jsonl")], on: database).end == .exit(0))
        #expect(try mover.bytes("before.jsonl") == mover.bytes("after.jsonl"))
        let told = try run(mover, ["--apply", "--any-namespace", map], on: database, sources: "exx")
        #expect(told.end == .exit(0) && told.output.contains("2 people moved"), "\(told)")
        #expect(try mover.run(["export", "--any-namespace"], on: database).end == .exit(78))
    }

    @Test func `Owners without a namespace are refused where every source has one`() throws {
        let mover = try Mover()
        let database = try database(mover, shared: false, ["ext:a"])
        let map = try map(mover, ["ext:a,a"])
        let settings = [
            "TASKS_DATABASE": database, "TASKS_SOURCES": "ext",
            "TASKS_SOURCE_EXT_AUTHORITY": "https://contoso.ciamlogin.com", "TASKS_SOURCE_EXT_CLIENT_ID": "c",
        ]
        func run(_ changes: [String: String]) throws -> ChildProcess.Outcome {
            try ChildProcess(
                ChildProcess.built("task-server"), ["move-owners", map], environment: settings.merging(changes) { $1 }
            ).outcome()
        }
        let refused = try run([:])
        #expect(refused.end == .exit(1), "\(refused)")
        #expect(refused.errors.contains("no source of these settings has owners without a namespace"), "\(refused)")
        #expect(try run(["TASKS_SOURCE_EXT_OWNERS": "bare"]).end == .exit(0))
        #expect(try run(["TASKS_AUTHORITY": "https://contoso.b2clogin.com/t", "TASKS_POLICIES": "p"]).end == .exit(0))
    }

    @Test(arguments: [false, true])
    func `Each person is moved once and whole, however often the move is killed`(shared: Bool) throws {
        let mover = try Mover()
        let owners = (0..<500).map { "old-\($0)" }
        let database = try database(mover, shared: shared, owners)
        let map = try map(mover, owners.map { "\($0),ext:\($0)" })
        func moved() -> Int { mover.count("SELECT count(*) FROM tasks WHERE owner LIKE 'ext:%'", in: database) }
        var kills = 0
        for _ in 0..<3 {
            let before = moved()
            let program = try mover.start(["move-owners", "--apply", map], on: database)
            // Each person is moved in a transaction.
            eventuallyBlocking("more people are moved") { moved() > before || moved() == 500 }
            program.send(SIGKILL)
            if try program.wait() == .signal(SIGKILL) { kills += 1 }
        }
        #expect(kills > 0 && moved() > 0)
        let last = try run(mover, ["--apply", map], on: database)
        #expect(last.end == .exit(0) && !last.output.contains("--merge"), "\(last)")
        #expect(try mover.run(["export", mover.file("out.jsonl")], on: database).end == .exit(0))
        let lines = String(decoding: try mover.bytes("out.jsonl"), as: UTF8.self).split(separator: "\n")
        let tasks = lines.filter { $0.contains(#""text":"#) }
        #expect(tasks.count == 500)
        #expect(tasks.allSatisfy { $0.hasPrefix(#"{"owner":"ext:old-"#) && $0.contains(#""id":1,"#) })
    }

    @Test(arguments: [false, true])
    func `People move from B2C to External ID as the walk-through says (P-14)`(
        shared: Bool
    ) throws {
        let stage = try Stage()
        let tenant = "4f5d1a2b-93c6-4e87-a1b0-2c3d4e5f6a7b"
        let database = shared ? try PostgreSQLServer.started().newDatabase() : "sqlite:\(stage.database)"
        let settings = [
            "TASKS_DATABASE": database, "TASKS_SOURCES": "ext",
            "TASKS_SOURCE_EXT_AUTHORITY": "\(stage.issuer)/\(tenant)",
            "TASKS_SOURCE_EXT_ISSUER": "https://\(tenant).ciamlogin.com/\(tenant)/v2.0",
            "TASKS_SOURCE_EXT_CLIENT_ID": "8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f",
        ]
        var server = try stage.server(settings)
        let (before, after) = (try stage.token("user=alice"), try stage.token("user=alice&profile=external-id"))
        let (old, new) = (try server.owner(of: before), try server.owner(of: after))
        #expect(new.hasPrefix("ext:") && new != "ext:\(old)")
        #expect(try server.add("first", token: before).status == 201)
        let attempt = ["Content-Type": "application/json", "Idempotency-Key": "\"k\""]
        let body = #"{"task":"second"}"#
        let added = try server.ask("POST", "/api/tasks", token: before, attempt, body: body)
        #expect(added.status == 201)
        let tag = added.headers["etag"] ?? ""
        // Both lists are cached from here on.
        #expect(try server.texts(token: before) == ["first", "second"])
        #expect(try server.texts(token: after) == [])

        let map = "\(stage.folder)/owners.csv"
        try File.replace(map, with: Array("\"\(old)\",\"\(new)\"\n".utf8))
        let dry = try stage.run(["move-owners", map], settings)
        #expect(dry.end == .exit(0) && dry.output.contains("1 person would move, with 2 tasks"), "\(dry)")
        #expect(try server.texts(token: before) == ["first", "second"])
        // The server of a SQLite file is stopped for the move; those of PostgreSQL go on.
        if !shared { #expect(try server.stop() == .exit(0)) }
        let done = try stage.run(["move-owners", "--apply", map], settings)
        #expect(done.end == .exit(0) && done.output.contains("1 person moved, with 2 tasks"), "\(done)")
        if !shared { server = try stage.server(settings) }
        // From the first request on, the server answers with no list from before the move.
        #expect(try server.texts(token: after) == ["first", "second"])
        #expect(try server.texts(token: before) == [])
        let retry = try server.ask("POST", "/api/tasks", token: after, attempt, body: body)
        #expect(retry.status == 201 && retry.headers["location"] == added.headers["location"], "\(retry.text)")
        #expect(try server.texts(token: after) == ["first", "second"])
        let change = ["Content-Type": "application/json", "If-Match": tag]
        let changed = try server.ask("PATCH", "/api/tasks/2", token: after, change, body: #"{"completed":true}"#)
        #expect(changed.status == 200, "\(changed.text)")
        #expect(try server.stop() == .exit(0))
        #expect(try stage.run(["move-owners", "--apply", map], settings).output.contains("0 people moved"))

        // The old source is closed.
        let closed = try stage.server(settings.merging(["TASKS_UNTIL": "2020-01-01"]) { $1 })
        try eventuallyBlocking { try closed.ask("GET", "/api/tasks", token: after).status == 200 }
        #expect(try closed.texts(token: after) == ["first", "second"])
        #expect(try closed.ask("GET", "/api/tasks", token: before).status == 401)
        #expect(try closed.stop() == .exit(0))
    }
}
