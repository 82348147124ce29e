import Glibc
import Platform
import Support
import Testing

@Suite("A PostgreSQL that cannot be used")
struct PostgreSQLCommandTests {
    private let stage: Stage
    private let server: PostgreSQLServer

    init() throws {
        stage = try Stage()
        server = try PostgreSQLServer.started()
    }

    private static let writing = ["serve", "check", "migrate", "import"]
    private static let commands = writing + ["export"]
    private static let password = "pa55w0rd"

    /// Runs the commands, each of which must end with this code and one line that begins and ends with this text.
    private func expect(
        _ commands: [String] = commands, at address: String, exit code: Int32 = 1, _ start: String, _ end: String,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let settings = stage.settings.merging([
            "TASKS_DATABASE": address, "TASKS_POLICIES": "b2c_1_sign_in", "TASKS_KEY_CACHE_FILE": "off",
        ]) { $1 }
        // The commands run side by side, because each start takes a while.
        let programs = try commands.map { command in
            (command, try ChildProcess(ChildProcess.built("task-server"), [command], environment: settings))
        }
        for (command, program) in programs {
            #expect(try program.wait() == .exit(code), "\(command)", sourceLocation: location)
            let all = "\(program.output)\(program.errors)".split(separator: "\n").map(String.init)
            #expect(!all.contains { $0.contains(Self.password) }, "\(command): \(all)", sourceLocation: location)
            let prefix = command == "check" && code == 1 ? "WRONG database: " : "task-server: "
            let lines = all.filter { $0.hasPrefix(prefix) && $0 != "task-server: --help explains every setting." }
            #expect(lines.count == 1, "\(command): \(all)", sourceLocation: location)
            let line = lines.first ?? ""
            #expect(line.hasPrefix(prefix + start), "\(command): \(line)", sourceLocation: location)
            #expect(line.hasSuffix(end), "\(command): \(line)", sourceLocation: location)
        }
    }

    /// The connection string of a database, with a password that no output may show.
    private func address(_ database: String, user: String = "test", _ rest: String = "") -> String {
        PostgreSQLServer.address(
            "\(user):\(Self.password)@127.0.0.1:\(server.port)/\(database)", "sslmode=disable\(rest)")
    }

    @Test func `A malformed connection string ends the program with 78`() throws {
        try expect(
            at: "postgresql://user:%\(Self.password)@host/tasks", exit: 78,
            "TASKS_DATABASE is no connection string of PostgreSQL (",
            "; one is postgresql://user:password@host:5432/tasks?sslmode=verify-full")
    }

    @Test func `A wrong password or a wrong name of the database is reported`() throws {
        let database = try server.newDatabaseName()
        try server.command("CREATE ROLE \(PostgreSQLServer.asked) LOGIN PASSWORD 'another'")
        let unreachable = "the database postgresql://127.0.0.1:\(server.port)/"
        try expect(
            at: address(database, user: PostgreSQLServer.asked), "\(unreachable)\(database) cannot be reached (",
            "); check user and password in TASKS_DATABASE")
        try expect(
            at: address("nowhere"), "\(unreachable)nowhere cannot be reached (",
            "database \"nowhere\" does not exist); make it, or correct TASKS_DATABASE")
        let port = try freePort()
        try expect(
            at: "postgresql://u:\(Self.password)@127.0.0.1:\(port)/tasks",
            "the database postgresql://127.0.0.1:\(port)/tasks cannot be reached (",
            "TCP/IP connections?); check TASKS_DATABASE and the server")
    }

    @Test func `Missing rights are named, and a database that only reads is exported`() throws {
        let database = try server.newDatabaseName()
        let weak = "\(database)_weak"
        try server.command("CREATE ROLE \(weak) LOGIN")
        let place = "the database postgresql://127.0.0.1:\(server.port)/\(database)"
        try expect(
            Self.writing, at: address(database, user: weak),
            "the role has no right to make tables in \(place) (",
            "); run `task-server migrate` as a role that has, then GRANT SELECT, INSERT, UPDATE, DELETE on them")
        try expect(
            ["export"], at: address(database, user: weak), "\(place) has no tables of this task-server",
            "; check TASKS_DATABASE, or run `task-server migrate`")

        #expect(try stage.run(["migrate"], ["TASKS_DATABASE": address(database)]).end == .exit(0))
        let all = "SELECT, INSERT, UPDATE, DELETE on"
        let rest = "attempts; \(all) owners; \(all) removed_tasks; SELECT on task_server_schema; "
        try expect(
            Self.writing, at: address(database, user: weak),
            "the role \(weak) lacks rights in \(place) (SELECT, INSERT, UPDATE, DELETE on \(rest)",
            "SELECT, INSERT, UPDATE, DELETE on tasks); GRANT them, as the owner of the tables")
        try expect(
            ["export"], at: address(database, user: weak),
            "the role \(weak) lacks rights in \(place) (SELECT on attempts; SELECT on owners; SELECT on removed_tasks; SELECT on ",
            "; SELECT on tasks); GRANT them, as the owner of the tables")
        try server.command("GRANT SELECT ON task_server_schema TO \(weak)", in: database)
        let granted = "SELECT, INSERT, UPDATE, DELETE ON owners, attempts, removed_tasks"
        try server.command("GRANT \(granted) TO \(weak)", in: database)
        try server.command("GRANT SELECT, UPDATE, DELETE ON tasks TO \(weak)", in: database)
        try expect(
            Self.writing, at: address(database, user: weak),
            "the role \(weak) lacks rights in \(place) (INSERT on tasks)", "; GRANT them, as the owner of the tables")
        #expect(try stage.run(["export"], ["TASKS_DATABASE": address(database, user: weak)]).end == .exit(0))
        try server.command("GRANT INSERT ON tasks TO \(weak)", in: database)
        #expect(try stage.run(["check"], ["TASKS_DATABASE": address(database, user: weak)]).end == .exit(0))

        try server.command("ALTER DATABASE \(database) SET default_transaction_read_only = on")
        try expect(
            Self.writing, at: address(database), "\(place) only reads",
            "; name the primary, or all hosts with target_session_attrs=read-write")
        #expect(try stage.run(["export"], ["TASKS_DATABASE": address(database)]).end == .exit(0))
    }

    @Test func `A stop mentions no write-ahead log, which only SQLite has`() throws {
        let running = try stage.server(["TASKS_DATABASE": address(try server.newDatabaseName())])
        #expect(try running.stop() == .exit(0))
        let lines = running.process.output.split(separator: "\n").filter { $0.contains("\"database-closed\"") }
        #expect(lines.count == 1)
        #expect(lines.allSatisfy { !$0.contains("\"log\"") }, "\(lines)")
    }
}
