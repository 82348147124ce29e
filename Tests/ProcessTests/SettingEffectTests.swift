import Basics
import Glibc
import JSON
import Platform
import SQLite
import Support
import Testing

@Suite("Each setting has its effect, and its default is a safe one")
struct SettingEffectTests {
    @Test func `A server with all these settings at once shows the effect of each`() throws {
        let scene = try SettingScene(SettingEffect.all)
        for effect in SettingEffect.all {
            let isSeen = Result { try effect.isSeen(scene) }
            #expect((try? isSeen.get()) == true, "TASKS_\(effect.setting): \(isSeen)")
        }
        #expect(try scene.server.stop() == .exit(0))
    }

    @Test func `The log has the level and the format of the settings`() throws {
        let stage = try Stage()
        let changes = [
            "TASKS_LOG_LEVEL": "warning", "TASKS_LOG_FORMAT": "text", "TASKS_PUBLIC": stage.folder,
        ]
        let server = try stage.start(changes)
        _ = try server.await { $0.contains(" warning page-incomplete missing=") ? true : nil }
        server.send(SIGTERM)
        #expect(try server.wait() == .exit(0))
        #expect(!server.output.contains("listening") && !server.output.contains("stopping"), "\(server.output)")
    }

    @Test func `Keys may come from another host only if the settings name it`() throws {
        let folder = try TemporaryFolder()
        let script = """
            import http.server, sys
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
            print("port", server.server_port, flush=True)
            server.serve_forever()
            """
        let python = try ChildProcess("/bin/bash", ["-c", "cd \(folder.path) && exec python3 -c '\(script)'"])
        let port = try python.await { Stage.port(after: "port ", in: $0) }
        let stage = try Stage()
        let keys = try exchange(stage.mockPort, "GET", "/\(Stage.tenant)/b2c_1_sign_in/discovery/v2.0/keys").body
        try File.replace(folder.file("keys"), with: keys)
        let document: JSONValue = [
            "issuer": .string("http://127.0.0.1:\(port)"), "jwks_uri": .string("http://localhost:\(port)/keys"),
        ]
        try File.replace(folder.file("document"), with: document.serialized())
        let settings = [
            "TASKS_AUTHORITY": "", "TASKS_POLICIES": "", "TASKS_ISSUER": "http://127.0.0.1:\(port)",
            "TASKS_METADATA_URL": "http://127.0.0.1:\(port)/document",
        ]
        try expectDifference(stage, settings, ["TASKS_KEY_HOSTS": "localhost"], "KEY_HOSTS")
    }

    @Test func `Keys are used only for an algorithm that the settings allow`() throws {
        let stage = try Stage()
        try expectDifference(
            stage, ["TASKS_ALGORITHMS": "ES256,EdDSA"], ["TASKS_ALGORITHMS": "ES256,RS256"], "TASKS_ALGORITHMS")
        let unknown = try stage.run(["check"], ["TASKS_ALGORITHMS": "HS256"])
        #expect(unknown.end != .exit(0) && unknown.errors.contains("'HS256' is not RS256, RS384"), "\(unknown)")
    }

    /// Checks that `check` finds nothing wrong with these settings, and names this one without these changes.
    private func expectDifference(
        _ stage: Stage, _ settings: [String: String], _ changes: [String: String], _ name: String
    ) throws {
        let refused = try stage.run(["check"], settings)
        #expect(refused.end == .exit(1) && refused.output.contains(name), "\(refused)")
        let accepted = try stage.run(["check"], settings.merging(changes) { $1 })
        #expect(accepted.end == .exit(0), "\(accepted)")
    }

    @Test func `Of an authority of many tenants only the tokens of those in the settings are accepted`() throws {
        let stage = try Stage()
        let tenant = "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a"
        let settings = [
            "TASKS_AUTHORITY": "\(stage.issuer)/organizations", "TASKS_POLICIES": "",
            "TASKS_ISSUER": "https://login.microsoftonline.com/{tenantid}/v2.0",
            "TASKS_CLIENT_ID": "1e9f8d7c-6b5a-4f3e-8d2c-1b0a9f8e7d6c", "TASKS_DATABASE": "memory:",
        ]
        let token = try stage.token("user=alice&profile=entra")
        for (tenants, status) in [(tenant, 200), ("11111111-2222-3333-4444-555555555555", 401)] {
            let server = try stage.server(settings.merging(["TASKS_TENANTS": tenants]) { $1 })
            #expect(try server.ask("GET", "/api/tasks", token: token).status == status)
            #expect(try server.stop() == .exit(0))
        }
    }

    @Test func `New tables of PostgreSQL have as many partitions as the settings say`() throws {
        let stage = try Stage()
        let address = try PostgreSQLServer.started().newDatabase()
        let made = try stage.run(["migrate"], ["TASKS_DATABASE": address, "TASKS_PARTITIONS": "3"])
        #expect(made.end == .exit(0), "\(made)")
        let partitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'tasks'::regclass"
        let count = try PostgreSQLServer.started().command(partitions, in: PostgreSQLServer.name(of: address))
        #expect(count.contains("3"), "\(count)")
    }

    @Test func `What was removed is known as long as the settings say`() throws {
        let stage = try Stage()
        let folder = try TemporaryFolder()
        let database = ["TASKS_DATABASE": "sqlite:\(folder.file("tasks.db"))"]
        let token = try stage.token("user=alice")
        let first = try stage.server(database)
        let added = try first.add("gone", token: token)
        let changes = try first.ask("GET", "/api/tasks/changes", token: token).text
        let next = try #require(changes.split(separator: #""next":""#).last?.prefix { $0 != "\"" })
        let removed = try first.ask("DELETE", added.headers["Location"] ?? "", token: token)
        #expect(added.status == 201 && removed.status == 204)
        #expect(try first.stop() == .exit(0))
        try Connection(path: folder.file("tasks.db"), mode: .readWrite)
            .execute("UPDATE removed_tasks SET time = time - 2 * 3600000")
        for (kept, status) in [("30d", 200), ("1h", 410)] {
            let server = try stage.server(database.merging(["TASKS_REMOVED_TASKS_KEPT": kept]) { $1 })
            eventuallyBlocking("the status is \(status)") {
                (try? server.ask("GET", "/api/tasks/changes?since=\(next)", token: token).status) == status
            }
            #expect(try server.stop() == .exit(0))
        }
    }

    /// Settings that are not in ``SettingEffect/all``, and the file that shows the effect of each.
    private static let shownElsewhere = [
        "AUTHORITY": "SettingEffectTests", "METADATA_URL": "SettingEffectTests", "ISSUER": "SettingEffectTests",
        "CA_FILE": "MockProgramTests", "ALLOW_HTTP_AUTHORITY": "CommandLineTests", "TLS_CERT": "CertificateTests",
        "TLS_KEY": "CertificateTests", "UNTIL": "MoveOwnersTests", "DISTRUSTED_KEYS": "ReloadTests",
        "SHUTDOWN_DELAY": "ServingTests", "SHUTDOWN_PATIENCE": "ServingTests",
        "SOURCES": "SourceTests",
        "SOURCE_NAME_WORD": "SourceTests", "SOURCE_NAME_ALLOW_HTTP": "SourceTests",
        "SOURCE_NAME_OWNERS": "SourceTests", "KEY_HOSTS": "SettingEffectTests", "ALGORITHMS": "SettingEffectTests",
        "TENANTS": "SettingEffectTests", "REMOVED_TASKS_KEPT": "SettingEffectTests",
        "PARTITIONS": "SettingEffectTests", "LOG_LEVEL": "SettingEffectTests", "LOG_FORMAT": "SettingEffectTests",
    ]

    @Test func `No setting is without a test of its effect`() throws {
        let help = try ChildProcess(ChildProcess.built("task-server"), ["--help"])
        #expect(try help.wait() == .exit(0))
        let settings = help.output.split(separator: "\n").compactMap { line -> String? in
            guard line.hasPrefix("        [TASKS_") else { return nil }
            return String(line.dropFirst(15).prefix { $0 == "_" || $0.isLetter })
        }
        let shown = SettingEffect.all.map(\.setting) + Self.shownElsewhere.keys
        #expect(shown.sorted() == settings.sorted())
        for (setting, file) in Self.shownElsewhere {
            let text = String(decoding: try TestFile("\(file).swift").bytes(), as: UTF8.self)
            let word = setting.replacing("SOURCE_NAME_", with: "").replacing("WORD", with: "AUTHORITY")
            #expect(text.contains(word), "\(file) says nothing of \(setting)")
        }
    }

    /// The texts are literal, because docs/settings.md is made from `--help` and would follow an unsafe default.
    @Test(arguments: ["task-server", "mock-authority"])
    func `The defaults are these`(program: String) throws {
        let printed = try ChildProcess(ChildProcess.built(program), ["--print-settings"])
        #expect(try printed.wait() == .exit(0))
        let lines = try printed.output.split(separator: "\n").map { line in
            // The text after the colon says what happens without a value.
            try #require(line.wholeMatch(of: /[A-Z]+_(.*)  # default(: .*)?/), "\(line)").output.1
        }
        #expect(lines == Self.defaults[program]?.split(separator: " "))
    }

    /// Each setting without the prefix of its program, and its default, if it has one.
    private static let defaults = [
        "task-server": """
        LISTEN=127.0.0.1:3000 ADMIN_LISTEN=127.0.0.1:3002 PUBLIC_URL= TLS_CERT= TLS_KEY= AUTHORITY= POLICIES= METADATA_URL= ISSUER= TENANTS= \
        KEY_HOSTS= ALGORITHMS= CA_FILE= ALLOW_HTTP_AUTHORITY=false CLIENT_ID= AUDIENCE_CLAIM=aud AUDIENCE_MATCH=one OWNER_CLAIM=oid \
        TOKEN_KIND=access MAX_LIFETIME=1d CLOCK_SKEW=60s UNTIL= SCOPE_CLAIM=auto READ_SCOPE= WRITE_SCOPE= SOURCES= PAGE_AUTHORITY= \
        TOKEN_CACHE=10000 ALLOW_QUERY_TOKEN=false DISTRUSTED_KEYS= CORS_ORIGINS=* DATABASE=sqlite:tasks.db PARTITIONS=off REMOVED_TASKS_KEPT=30d \
        KEY_CACHE_FILE= PUBLIC= CONNECTIONS=1000 CONNECTIONS_PER_ADDRESS= STREAMS=500 TRUSTED_PROXIES= BODY_LIMIT=64KiB MAX_TASKS=10000 \
        ANSWER_MEMORY=64MiB RATE_LIMIT=off KEEP_ALIVE=75s SHUTDOWN_DELAY=0s SHUTDOWN_PATIENCE=10s LOG_LEVEL=info LOG_FORMAT=auto LOG_REQUESTS=all
        """,
        "mock-authority": """
        LISTEN=127.0.0.1:3001 ALLOW_REMOTE=false ISSUER= PUBLIC_URL= TRUSTED_PROXIES= ISSUER_MODE= CONFIG= STATE= TLS_LISTEN= TLS_NAME= \
        PERSONA=microsoft TOKEN_LIFETIME=3600 ERA=current LAX=false STRICT_REFRESH=false ISSUER_HOST=service ENTRA_TOKEN_LIFETIME= \
        ENTRA_PASSWORD_GRANT=false HIGH_SCALE_COMPATIBILITY=false TASKS_URL=http://localhost:3000
        """,
    ]
}
