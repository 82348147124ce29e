import JSON
import Platform
import Support
import Testing

/// A request over TLS, in the pieces in which it is written, and the status of its answer.
private struct TLSCase {
    let name: String
    let pieces: [String]
    let status: Int
    /// Whether the connection ends as TLS asks; libmicrohttpd itself closes with the rest of a long head unread.
    var endsInOrder = true
}

/// What came back, see `tls-exchange.py`.
private struct TLSAnswer {
    let text: String
    let ending: String
    let stray: String?

    init(line: Substring) throws {
        let value = try JSONValue(parsing: Array(line.utf8))
        text = value["text"].string ?? ""
        ending = value["ending"].string ?? ""
        stray = value["stray"].string
    }
}

@Suite("Refusals over TLS, in TLS records")
struct TLSRefusalTests {
    /// Each request in all the ways in which clients send it: head and body in one write and in two, and with
    /// `Expect: 100-continue`.
    private static func cases(
        _ name: String, _ status: Int, _ line: String, _ fields: String = "", body: String = "task=x",
        length: Int? = nil, version: String = "HTTP/1.1"
    ) -> [TLSCase] {
        let fields = "Host: localhost\r\nContent-Length: \(length ?? body.utf8.count)\r\n\(fields)"
        let head = "\(line) \(version)\r\n\(fields)\r\n"
        let expecting = "\(line) \(version)\r\n\(fields)Expect: 100-continue\r\n\r\n"
        return [
            TLSCase(name: "\(name), one write", pieces: [head + body], status: status),
            TLSCase(name: "\(name), two writes", pieces: [head, body], status: status),
            TLSCase(name: "\(name), expecting", pieces: [expecting], status: status),
            TLSCase(name: "\(name), expecting and sent", pieces: [expecting + body], status: status),
        ]
    }

    private static func chunked(_ line: String, _ fields: String, chunks: [String]) -> [String] {
        ["\(line) HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\(fields)\r\n"]
            + chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }
    }

    private func check(_ cases: [TLSCase], port: UInt16, version: String) throws {
        let input = cases.map { test in
            String(decoding: JSONValue.array(test.pieces.map { .string($0) }).serialized(), as: UTF8.self) + "\n"
        }
        let client = try ChildProcess(
            "/usr/bin/python3", [TestFile("tls-exchange.py").path, "\(port)", version], input: input.joined())
        try #require(try client.wait(within: .seconds(240)) == .exit(0), "\(client.errors)")
        let answers = try client.output.split(separator: "\n").map(TLSAnswer.init)
        try #require(answers.count == cases.count)
        for (test, answer) in zip(cases, answers) {
            let place = Comment(rawValue: "TLS \(version), \(test.name): \(answer)")
            #expect(answer.stray == nil, place)
            if test.endsInOrder { #expect(answer.ending == "close_notify", place) }
            #expect(answer.text.hasPrefix("HTTP/1.1 \(test.status) "), place)
            #expect(answer.text.ranges(of: "HTTP/1.1").count == 1, place)
            let parts = answer.text.split(separator: "\r\n\r\n", maxSplits: 1)
            #expect(parts.count == 2 && parts[0].contains("Content-Length: \(parts[1].utf8.count)"), place)
        }
    }

    private static let long = String(repeating: "x", count: 40_000)

    private static func taskServerCases(expired: String, good: String) -> [TLSCase] {
        let bearer = "Authorization: Bearer \(good)\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        let middle = chunked("POST /api/tasks", bearer, chunks: [long, long, long])
        return [
            cases("no token", 401, "POST /api/tasks"),
            cases("no token in HTTP/1.0", 401, "POST /api/tasks", version: "HTTP/1.0"),
            cases("a bad token", 401, "POST /api/tasks", "Authorization: Bearer a.b.c\r\n"),
            cases("an expired token", 401, "POST /api/tasks", "Authorization: Bearer \(expired)\r\n"),
            cases("no token, long", 401, "POST /api/tasks", body: long + long),
            cases("too long by its length", 413, "POST /api/tasks", bearer, length: 10_000_000),
            cases("no page", 404, "POST /nowhere", bearer),
            cases("no such method", 405, "POST /healthz"),
            cases("a method never served", 405, "TRACE /api/tasks", bearer),
            cases("an unknown method", 501, "FROB /api/tasks", bearer),
            cases("another expectation", 417, "POST /api/tasks", "Expect: tea\r\n"),
            cases("a repeated field", 400, "POST /api/tasks", "Host: localhost\r\n"),
            cases("an encoded slash", 400, "POST /a%2Fb"),
            cases("101 fields", 431, "POST /api/tasks", String(repeating: "X: y\r\n", count: 100)),
            cases("a long head", 431, "POST /api/tasks", "X: \(long)\r\n").map { test in
                TLSCase(name: test.name, pieces: test.pieces, status: test.status, endsInOrder: false)
            },
            [
                TLSCase(name: "too long by its chunks", pieces: middle, status: 413),
                TLSCase(name: "too long by its chunks, one write", pieces: [middle.joined()], status: 413),
                TLSCase(
                    name: "no token, chunked", pieces: chunked("POST /api/tasks", "", chunks: ["task=x"]), status: 401),
            ],
        ].flatMap(\.self)
    }

    @Test(arguments: ["1.2", "1.3"])
    func `Every refusal of task-server is whole`(version: String) throws {
        let stage = try Stage()
        let server = try Server(stage.start(stage.makeCertificate()))
        let expired = try stage.token("user=alice@example.com&bad=expired")
        let good = try stage.token()
        try eventuallyBlocking("the server is ready") {
            try exchange(server.adminPort, "GET", "/readyz").status == 200
        }
        try check(Self.taskServerCases(expired: expired, good: good), port: server.port, version: version)
        #expect(try server.stop() == .exit(0))
    }
}

@Suite("A server that speaks TLS itself") struct TransportTests {
    @Test(arguments: ["-tls1_1", "-tls1_2"])
    func `An authority is not asked over TLS 1.1, whatever the configuration of OpenSSL allows (V-75)`(
        version: String
    ) throws {
        let stage = try Stage()
        _ = try stage.makeCertificate()
        let lax = """
            openssl_conf = a
            [a]
            ssl_conf = b
            [b]
            system_default = c
            [c]
            CipherString = DEFAULT:@SECLEVEL=0
            MinProtocol = TLSv1
            """
        try File.replace("\(stage.folder)/lax.cnf", with: Array(lax.utf8))
        let port = try freePort()
        let line = """
            cd \(stage.folder) && exec openssl s_server -accept 127.0.0.1:\(port) -key tls.key -cert tls.pem -www \
            \(version) -cipher DEFAULT:@SECLEVEL=0
            """
        let server = try ChildProcess("/bin/bash", ["-c", line])
        _ = try server.await { $0.contains("ACCEPT") ? true : nil }
        let (end, output, _) = try stage.run(
            ["check"],
            [
                "TASKS_AUTHORITY": "https://127.0.0.1:\(port)/\(Stage.tenant)", "TASKS_POLICIES": "b2c_1_sign_in",
                "TASKS_CA_FILE": "\(stage.folder)/tls.pem", "OPENSSL_CONF": "\(stage.folder)/lax.cnf",
            ])
        // With TLS 1.2 there is an answer, which is no metadata.
        let isRefused = output.contains("the server must offer TLS 1.2 or newer")
        #expect(end == .exit(1) && isRefused == (version == "-tls1_1"), "\(output)")
    }
}
