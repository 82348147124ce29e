import Basics
import Glibc
import HTTP
import JSON
import Platform
import Support
import Testing

/// A setting of task-server with another value than its default, and a look at the effect from outside.
struct SettingEffect: Sendable {
    /// The name of the setting without `TASKS_`.
    let setting: String
    /// The value, in which `{folder}` stands for the folder of the stage.
    let value: String
    /// Whether the effect is seen in a server that has all values of ``all``.
    let isSeen: @Sendable (SettingScene) throws -> Bool

    private init(_ setting: String, _ value: String, _ isSeen: @escaping @Sendable (SettingScene) throws -> Bool) {
        (self.setting, self.value, self.isSeen) = (setting, value, isSeen)
    }

    /// Each effect uses owners of its own, because the rate of requests is limited.
    static let all =
        network + tokens + scopes + page + files + limits + [
            SettingEffect("LOG_REQUESTS", "errors") { scene in
                let good = try scene.ask("logged").headers["X-Request-Id"] ?? ""
                let bad = try scene.server.ask("GET", "/api/tasks").headers["X-Request-Id"] ?? ""
                _ = try scene.server.process.await { $0.contains("\"request\":\"\(bad)\"") ? true : nil }
                return !scene.server.process.output.contains("\"request\":\"\(good)\"")
            }
        ]

    private static let network = [
        SettingEffect("LISTEN", "127.0.0.1:0,[::1]:0") { scene in
            guard let port = Stage.port(after: ",[::1]:", in: scene.server.process.output) else { return false }
            let client = try RawClient(port: port, overIPv6: true)
            try client.send("GET /healthz HTTP/1.1\r\nHost: [::1]:\(port)\r\n\r\n")
            return try client.response()?.status == 200
        },
        SettingEffect("ADMIN_LISTEN", "127.0.0.1:0") { try $0.server.metric("tasks_log_lines_dropped_total") == 0 },
        SettingEffect("PUBLIC_URL", "https://tasks.example.com") { scene in
            let document = try scene.server.ask("GET", "/.well-known/oauth-protected-resource").text
            return document.contains(#""resource":"https://tasks.example.com/api/tasks""#)
        },
        SettingEffect("CORS_ORIGINS", "https://app.example") { scene in
            let origins = try ["https://app.example", "https://other.example"].map { origin in
                try scene.ask("cors", ["Origin": origin]).headers["Access-Control-Allow-Origin"]
            }
            return origins == ["https://app.example", nil]
        },
    ]

    private static let tokens = [
        SettingEffect("POLICIES", "b2c_1_sign_in") { scene in
            try scene.status("policy") == 200 && scene.status("policy", [:], "&policy=b2c_1_facebook") == 401
        },
        SettingEffect("CLIENT_ID", "\(Stage.client),second") { scene in
            try scene.status("client", ["client_id": "second"]) == 200
        },
        SettingEffect("AUDIENCE_CLAIM", "client_id") { try $0.status("audience", ["client_id": "third"]) == 401 },
        SettingEffect("AUDIENCE_MATCH", "any") { try $0.status("match", ["aud": #"["x","second"]"#]) == 200 },
        SettingEffect("OWNER_CLAIM", "sub") { scene in
            try scene.server.owner(of: scene.token("someone")) == "someone"
        },
        SettingEffect("TOKEN_KIND", "access") { try $0.status("kind", ["at_hash": "h"]) == 401 },
        SettingEffect("MAX_LIFETIME", "2h") { scene in
            try scene.status("lifetime", [:], "&exp=3h") == 401 && scene.status("lifetime", [:], "&exp=90m") == 200
        },
        SettingEffect("CLOCK_SKEW", "0s") { try $0.status("skew", [:], "&exp=-30s") == 401 },
        SettingEffect("TOKEN_CACHE", "0") { scene in
            let (token, name) = (try scene.token("cache"), "tasks_token_verification_duration_seconds_count")
            let before = try scene.server.metric(name)
            for _ in 0..<2 { _ = try scene.server.ask("GET", "/api/tasks", token: token) }
            return try scene.server.metric(name) == before + 2
        },
        SettingEffect("ALLOW_QUERY_TOKEN", "true") { scene in
            try scene.server.ask("GET", "/api/tasks?access_token=\(scene.token("query"))").status == 200
        },
    ]

    private static let scopes = [
        SettingEffect("SCOPE_CLAIM", "scope") { scene in
            try scene.status("claim", ["scope": "other", "scp": "read.it"]) == 403
        },
        SettingEffect("READ_SCOPE", "read.it") { try $0.status("read", ["scope": "write.it"]) == 403 },
        SettingEffect("WRITE_SCOPE", "write.it") { scene in
            let reader = try scene.token("write", ["scope": "read.it"])
            return try scene.server.add("a", token: reader).status == 403
                && scene.server.add("a", token: scene.token("write")).status == 201
        },
    ]

    private static let page = [
        SettingEffect("PAGE_AUTHORITY", "https://login.example/contoso") { scene in
            let configuration = try JSONValue(parsing: scene.server.ask("GET", "/config.json").body)
            return configuration["authority"] == "https://login.example/contoso"
        },
        SettingEffect("PUBLIC", "{folder}") { try $0.server.ask("GET", "/").text == SettingScene.page },
    ]

    private static let files = [
        SettingEffect("DATABASE", "sqlite:{folder}/other.db") { access("\($0.stage.folder)/other.db", F_OK) == 0 },
        SettingEffect("KEY_CACHE_FILE", "{folder}/other.keys") { scene in
            eventuallyBlocking { access("\(scene.stage.folder)/other.keys", F_OK) == 0 }
        },
    ]

    private static let limits = [
        SettingEffect("CONNECTIONS", "9") { scene in
            try eventuallyBlocking("earlier connections end") { try scene.server.metric("tasks_connections_open") == 0 }
            var clients = try (0..<10).map { _ in try RawClient(port: scene.server.port, timeout: 0.5) }
            // Half a head is not idle, so no connection gives its place to the last client.
            for client in clients.dropLast() { try client.send("GET /healthz HTTP/1.1\r\n") }
            try clients.last?.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
            // The last client waits for a place. Only time shows that nothing happens.
            guard clients.last?.isAnswered == false else { return false }
            clients.removeFirst()
            return eventuallyBlocking { clients.last?.isAnswered == true }
        },
        SettingEffect("CONNECTIONS_PER_ADDRESS", "2") { scene in
            let token = try scene.token("crowd")
            let clients = try (0..<2).map { _ in
                try scene.server.beginToAdd("", of: 9, token: token, "X-Forwarded-For: 203.0.113.9\r\n")
            }
            let third = try scene.ask("crowd", ["X-Forwarded-For": "203.0.113.9"])
            withExtendedLifetime(clients) {}
            return third.status == 429 && third.text.contains("request.too_many_at_once")
        },
        SettingEffect("TRUSTED_PROXIES", "127.0.0.0/8") { scene in
            _ = try scene.server.ask("GET", "/api/tasks", ["X-Forwarded-For": "203.0.113.77"])
            return try scene.server.process.await { $0.contains("\"peer\":\"203.0.113.77\"") ? true : nil }
        },
        SettingEffect("KEEP_ALIVE", "2s") { scene in
            let client = try RawClient(port: scene.server.port, timeout: 60)
            return try client.get("/healthz")?.status == 200 && client.isClosedByServer
        },
        SettingEffect("BODY_LIMIT", "2KiB") { scene in
            try scene.server.add(String(repeating: "x", count: 3000), token: scene.token("body")).status == 413
        },
        SettingEffect("MAX_TASKS", "3") { scene in
            let token = try scene.token("tasks")
            return try (0..<4).map { try scene.server.add("\($0)", token: token).status } == [201, 201, 201, 409]
        },
        SettingEffect("ANSWER_MEMORY", "1MiB") { try $0.server.metric("tasks_answer_bytes_limit") == 1 << 20 },
        SettingEffect("STREAMS", "1") { scene in
            let client = try scene.server.stream(token: scene.token("stream"))
            defer { withExtendedLifetime(client) {} }
            let second = try scene.server.ask(
                "GET", "/api/tasks/changes", token: scene.token("other"), ["Accept": "text/event-stream"])
            return second.status == 503
        },
        SettingEffect("RATE_LIMIT", "5") { scene in
            let token = try scene.token("rate")
            return try eventuallyBlocking { try scene.server.ask("GET", "/api/tasks", token: token).status == 429 }
        },
    ]
}

/// A server that has the values of all effects at once, and what the effects need to look at it.
struct SettingScene {
    static let page = "<!doctype html><title>Shown</title>"

    let stage: Stage
    let server: Server

    init(_ effects: [SettingEffect]) throws {
        stage = try Stage()
        try File.replace("\(stage.folder)/index.html", with: Array(Self.page.utf8))
        let folder = stage.folder
        server = try stage.server(
            Dictionary(
                uniqueKeysWithValues: effects.map { effect in
                    ("TASKS_\(effect.setting)", effect.value.replacing("{folder}", with: folder))
                }))
    }

    /// Returns a token that all settings accept, with these claims changed and `more` in the mock's query.
    func token(_ owner: String, _ changes: [String: String] = [:], _ more: String = "") throws -> String {
        let claims = ["sub": owner, "scope": "read.it write.it", "client_id": Stage.client]
        let query = claims.merging(changes) { $1 }.map { "&claim=\($0)=\(PercentEncoding.encode($1))" }
        return try stage.token("user=alice\(query.joined())\(more)")
    }

    func ask(_ owner: String, _ headers: [String: String] = [:]) throws -> RawResponse {
        try server.ask("GET", "/api/tasks", token: token(owner), headers)
    }

    func status(_ owner: String, _ changes: [String: String] = [:], _ more: String = "") throws -> Int {
        try server.ask("GET", "/api/tasks", token: token(owner, changes, more)).status
    }
}
