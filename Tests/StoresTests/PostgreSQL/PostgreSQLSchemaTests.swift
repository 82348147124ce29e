import Basics
import JSON
import OwnerMoves
import TaskArchive
import PostgreSQLStore
import SQLiteStore
import Platform
import PostgreSQL
import Support
import Tasks
import Testing

@Suite("The tables in PostgreSQL")
struct PostgreSQLSchemaTests {
    private let alice = Owner("alice")
    private let server: PostgreSQLServer

    init() throws {
        server = try PostgreSQLServer.started()
    }

    private func name(_ address: String) -> String { PostgreSQLServer.name(of: address) }

    /// Types and arguments of a statement, in SQL, by the types that it declares: for a task of alice with the id 10
    /// and the text "x".
    private static func arguments(_ statement: TaskStatement) -> (types: String, values: String) {
        // The task is there, so another one is inserted.
        var number = statement == .insert ? 99 : 9
        let arguments = statement.types.enumerated().map { position, parameter in
            switch parameter {
            case .integer:
                number += 1
                return ("int8", "\(number)")
            case .text: return ("text", position == 0 ? "'alice'" : "'x'")
            case .boolean: return ("bool", "true")
            case .integers: return ("int8[]", "'{5}'")
            case .booleans: return ("bool[]", "'{f}'")
            case .real: return ("float8", "1.5")
            case .texts: return ("text[]", "'{x}'")
            case .reals: return ("float8[]", "'{NULL}'")
            }
        }
        return (arguments.map(\.0).joined(separator: ","), arguments.map(\.1).joined(separator: ","))
    }

    @Test func `Every statement uses one partition`() throws {
        let address = try server.newDatabase()
        #expect(try PostgreSQLTaskStore.migrate(address, partitions: 8).hasSuffix("are made in 8 partitions"))
        for statement in TaskStatement.allCases where statement.namesOwner {
            try expectOnePartition(statement, in: address)
        }
    }

    private func expectOnePartition(_ statement: TaskStatement, in address: String) throws {
        let (types, values) = Self.arguments(statement)
        for mode in ["force_custom_plan", "force_generic_plan"] {
            let plan = try server.command(
                """
                SET plan_cache_mode = \(mode); INSERT INTO owners VALUES ('alice', 11, 1);
                INSERT INTO tasks VALUES ('alice', 10, 'x', false, 5, 5, 1);
                PREPARE s(\(types)) AS \(statement.sql);
                EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE s(\(values));
                DELETE FROM owners; DELETE FROM tasks; DELETE FROM attempts
                """, in: name(address))
            // A generic plan names every partition as a target; which of them is looked into is decided when it runs.
            let lines = plan.split(separator: "\n").filter { line in
                !line.hasSuffix("(never executed)") && (mode == "force_custom_plan" || line.contains(" Scan "))
            }
            let partitions = Set(lines.compactMap { $0.firstMatch(of: /(?:tasks|owners|attempts)_p(\d+)/)?.1 })
            #expect(partitions.count <= 1, "\(statement), \(mode): \(plan)")
            // A statement that only inserts is routed, and its plan names no partition.
            if ![.makeOwner, .probe, .insert, .putAttempt].contains(statement) {
                #expect(partitions.count == 1, "\(statement), \(mode): \(plan)")
            }
        }
    }

    @Test func `A statement about one task is planned once, and not at each execution`() throws {
        let address = try server.newDatabase()
        _ = try PostgreSQLTaskStore.migrate(address, partitions: nil)
        try server.command(
            """
            INSERT INTO owners SELECT 'owner ' || n, 101, 100 FROM generate_series(1, 50) n;
            INSERT INTO tasks SELECT owner, n, 'x', false, 5, 5, 1 FROM owners, generate_series(1, 100) n;
            INSERT INTO attempts SELECT owner, 'key ' || n, 1, 5, n, 'x', false FROM owners, generate_series(1, 9) n;
            ANALYZE
            """, in: name(address))
        let statements: [TaskStatement] = [
            .find, .listPoint, .lockOwner, .lockTask, .lockRevision, .attempt, .change, .remove, .putOwner,
            .forgetAttempt,
        ]
        for statement in statements {
            let (types, values) = Self.arguments(statement)
            let executions = Array(repeating: "EXECUTE s(\(values));", count: 8).joined(separator: " ")
            let answer = try server.command(
                "PREPARE s(\(types)) AS \(statement.sql); \(executions) "
                    + "SELECT generic_plans > 0 FROM pg_prepared_statements WHERE name = 's'", in: name(address))
            #expect(answer.hasSuffix("t\n"), "\(statement)")
        }
    }

    @Test func `The number of partitions stays`() throws {
        let address = try server.newDatabase()
        _ = try PostgreSQLTaskStore.migrate(address, partitions: 4)
        #expect(throws: OperatorError.self) { try PostgreSQLTaskStore.migrate(address, partitions: 8) }
        #expect(try PostgreSQLTaskStore.migrate(address, partitions: nil).hasSuffix("up to date in 4 partitions"))
    }

    @Test
    func `The tables of a newer program are refused, also by a store that runs, when it connects again`() async throws {
        let address = try server.newDatabase()
        let store = try PostgreSQLTaskStore.open(address)
        defer { store.close() }
        try await store.check()
        try server.command("INSERT INTO task_server_schema VALUES (99)", in: name(address))
        let error = #expect(throws: OperatorError.self) { try PostgreSQLTaskStore.open(address) }
        #expect(error?.failure.contains("version 99, written by a newer task-server") == true)
        try server.command(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = '\(name(address))' AND pid <> pg_backend_pid()
            """)
        await eventually("writes are refused", within: .seconds(20)) {
            await refusal(of: store)?.contains("of a newer task-server") == true
        }
    }

    @Test(arguments: [0, -1, Int64.min, nil])
    func `The tables of another program are refused, and of a version that no program has`(number: Int64?) throws {
        let address = try server.newDatabase()
        if let number {
            try PostgreSQLTaskStore.open(address).close()
            try server.command(
                """
                UPDATE task_server_schema SET version = \(number) WHERE version = 1;
                DELETE FROM task_server_schema WHERE version > 1
                """, in: name(address))
        } else {
            try server.command("CREATE TABLE tasks(title text)", in: name(address))
        }
        let error = #expect(throws: OperatorError.self) { try PostgreSQLTaskStore.open(address) }
        #expect(error?.failure.contains("belongs to another program") == true)
    }
}
