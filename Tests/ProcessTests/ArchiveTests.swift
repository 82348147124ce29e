import Platform
import Support
import Testing

@Suite("Copies of the database") struct ArchiveTests {
    @Test func `A copy is made while the server runs, and another server starts with it`() throws {
        let stage = try Stage()
        let server = try stage.server()
        let token = try stage.token()
        #expect(try server.add("Copied", token: token).status == 201)
        let copy = "\(stage.folder)/copy.db"
        #expect(try stage.run(["backup", copy]).end == .exit(0))
        #expect(!File.exists(copy + ".partial"))
        #expect(try server.add("Too late", token: token).status == 201)
        let again = try stage.run(["backup", copy])
        #expect(again.end == .exit(1) && again.errors.contains("exists, and is not replaced"))
        let other = try stage.server(["TASKS_DATABASE": "sqlite:\(copy)"])
        #expect(try other.texts(token: token) == ["Copied"])
        #expect(try server.texts(token: token) == ["Copied", "Too late"])
    }

    @Test func `A command that changes tasks in the file of a running server says to stop the server first`() throws {
        let stage = try Stage()
        let (lines, map) = ("\(stage.folder)/lines.jsonl", "\(stage.folder)/map.csv")
        try File.replace(lines, with: Array("{\"owner\":\"a\",\"next\":2}\n{\"end\":true,\"tasks\":0}\n".utf8))
        try File.replace(map, with: Array("a,b\n".utf8))
        let server = try stage.server()
        let list = "\(stage.folder)/unmapped.txt"
        let commands = [["import", lines], ["move-owners", "--apply", "--list-unmapped", list, map]]
        for command in commands {
            let refused = try stage.run(command)
            #expect(refused.end == .exit(1) && refused.output == "", "\(refused)")
            #expect(
                refused.errors
                    == "task-server: a task-server uses the database \(stage.database), and keeps lists of its tasks in "
                    + "memory; stop the server first, and start it again when this command has ended\n")
        }
        #expect(!File.exists(list))
        #expect(try stage.run(["move-owners", map]).end == .exit(0))
        #expect(try server.stop() == .exit(0))
        for command in commands { #expect(try stage.run(command).end == .exit(0)) }
        #expect(try stage.run(["export"]).output.contains(#"{"owner":"b","next":2}"#))
    }

    @Test func `A copy needs a database in a file, whole lines, and room to be written`() throws {
        let stage = try Stage()
        let missing = try stage.run(["export"])
        #expect(missing.end == .exit(1) && missing.errors.contains("there is no database"))
        #expect(!File.exists(stage.database))
        for (lines, message) in [
            ("{\"owner\":\"x\",\"next\":2}\n", "the last line of an export is missing"),
            ("{\"end\":true,\"tasks\":1}\n", "lines are missing or doubled"),
        ] {
            let cut = try stage.run(["import"], input: lines)
            #expect(cut.end == .exit(1) && cut.errors.contains(message), "\(cut.errors)")
        }
        #expect(try stage.server().stop() == .exit(0))
        #expect(try stage.run(["backup", "\(stage.folder)/nowhere/copy.db"]).end == .exit(1))
    }
}
