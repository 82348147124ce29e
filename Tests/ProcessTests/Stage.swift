import Glibc
import HTTP
import JSON
import Platform
import Support
import Testing

/// The two programs as an operator starts them: mock-authority, and servers that take its tokens.
final class Stage {
    static let client = "580e250c-8f26-49d0-bee8-1c078add1609"
    static let tenant = "contoso.onmicrosoft.com"
    static let policies = "b2c_1_sign_up,b2c_1_sign_in,b2c_1_facebook,b2c_1_edit_profile,b2c_1_ropc"

    private let home: TemporaryFolder
    /// A folder for the files of the test.
    var folder: String { home.path }
    let mock: ChildProcess
    let mockPort: UInt16

    init(_ mockSettings: [String: String] = [:]) throws {
        home = try TemporaryFolder()
        let settings = ["MOCK_LISTEN": "127.0.0.1:0"].merging(mockSettings) { $1 }
        mock = try ChildProcess(ChildProcess.built("mock-authority"), environment: settings)
        mockPort = try mock.await { output in Stage.port(after: "http://127.0.0.1:", in: output) }
    }

    var issuer: String { "http://127.0.0.1:\(mockPort)" }
    var authority: String { "\(issuer)/\(Self.tenant)" }
    var database: String { "\(folder)/tasks.db" }

    /// The settings of a server, whose ports the system chooses.
    var settings: [String: String] {
        [
            "TASKS_LISTEN": "127.0.0.1:0", "TASKS_ADMIN_LISTEN": "127.0.0.1:0", "TASKS_AUTHORITY": authority,
            "TASKS_POLICIES": Self.policies, "TASKS_CLIENT_ID": Self.client, "TASKS_DATABASE": "sqlite:\(database)",
            "TASKS_PUBLIC": "off",
        ]
    }

    /// Starts a server, which may not come far.
    func start(_ changes: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(ChildProcess.built("task-server"), environment: settings.merging(changes) { $1 })
    }

    /// Starts a server and waits until it can answer.
    func server(_ changes: [String: String] = [:], program: [String]? = nil) throws -> Server {
        let environment = settings.merging(changes) { $1 }
        let command = program ?? [ChildProcess.built("task-server")]
        let server = try Server(ChildProcess(command[0], Array(command.dropFirst()), environment: environment))
        try server.awaitReadiness()
        return server
    }

    /// Runs a command of task-server to its end.
    ///
    /// A fetch is given up after five seconds, which the mock may need on a busy machine. Then the command runs again.
    func run(
        _ arguments: [String], _ changes: [String: String] = [:], input: String = ""
    ) throws -> ChildProcess.Outcome {
        let environment = settings.merging(changes) { $1 }
        let last = ContinuousClock.now + patience
        while true {
            let program = ChildProcess.built("task-server")
            let outcome = try ChildProcess(program, arguments, environment: environment, input: input).outcome()
            let isGivenUp = outcome.output.contains("milliseconds with 0 bytes received")
            guard isGivenUp, ContinuousClock.now < last else { return outcome }
        }
    }

    /// Returns the token of the mock for which this query asks.
    func token(_ query: String = "user=alice@example.com") throws -> String {
        let response = try exchange(mockPort, "GET", "/_mock/token?\(query)")
        guard response.status == 200 else { throw ChildProcess.Failure(description: response.text) }
        return response.text.split(separator: "\n").first.map(String.init) ?? ""
    }

    /// Every bad token of a service, with the response that the mock expects for it.
    func catalogue(_ query: String = "profile=b2c") throws -> [BadEntry] {
        let response = try exchange(mockPort, "GET", "/_mock/token/bad?\(query)", ["Accept": "application/json"])
        let entries = try (JSONValue(parsing: response.body).array ?? []).map(BadEntry.init)
        guard entries.count > 20 else { throw ChildProcess.Failure(description: "not the catalogue: \(response.text)") }
        return entries
    }

    /// Makes `tls.key` and `tls.pem` for this machine, and returns the settings of a server that uses them.
    func makeCertificate() throws -> [String: String] {
        let script = """
            cd \(folder) && exec openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.pem -days 30 \
            -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1
            """
        try ChildProcess.run(script: script)
        return ["TASKS_TLS_CERT": "\(folder)/tls.pem", "TASKS_TLS_KEY": "\(folder)/tls.key"]
    }

    /// Changes the keys of the mock.
    func keys(_ step: String) throws {
        let response = try exchange(mockPort, "POST", "/_mock/keys", body: Array("{\"do\":\"\(step)\"}".utf8))
        guard response.status == 200 else { throw ChildProcess.Failure(description: response.text) }
    }

    static func port(after prefix: String, in text: String) -> UInt16? {
        guard let range = text.firstRange(of: prefix) else { return nil }
        let digits = text[range.upperBound...].prefix { $0.isNumber }
        // Digits at the end of the text may not be all, because the program may still write.
        guard range.upperBound < text.endIndex, digits.endIndex < text.endIndex else { return nil }
        return UInt16(digits)
    }
}

extension ChildProcess {
    /// How a program ended, and what it wrote.
    typealias Outcome = (end: End, output: String, errors: String)

    /// Waits for the end of the program.
    func outcome(within limit: Duration = patience) throws -> Outcome {
        let end = try wait(within: limit)
        return (end, output, errors)
    }
}

/// Returns what curl gets from an address if it trusts only this certificate.
func curl(
    _ address: String, trusting certificate: String = "/etc/ssl/certs/ca-certificates.crt", _ more: String...
) throws -> String {
    try ChildProcess.run("/usr/bin/curl", ["-sSf", "--max-time", "20", "--cacert", certificate, address] + more)
}

/// One line of the mock's catalogue.
struct BadEntry: Sendable {
    let name: String
    private let value: JSONValue

    init(_ value: JSONValue) {
        name = value["name"].string ?? ""
        self.value = value
    }

    /// The expected status and the expected code of the problem, of a server that requires scopes or not.
    func response(withScopes: Bool) -> (status: Int, code: String?) {
        let suffix = withScopes ? "WithScopes" : ""
        return (Int(value["status\(suffix)"].integer ?? 0), value["code\(suffix)"].string)
    }
}

/// A task-server that runs.
final class Server {
    let process: ChildProcess
    let port: UInt16
    let adminPort: UInt16

    init(_ process: ChildProcess) throws {
        self.process = process
        port = try process.await { Stage.port(after: "\"listen\":\"127.0.0.1:", in: $0) }
        adminPort = try process.await { Stage.port(after: "\"admin\":\"127.0.0.1:", in: $0) }
    }

    /// Waits until `/readyz` says so.
    func awaitReadiness() throws {
        _ = try process.await { _ in
            try exchange(port, "GET", "/readyz").status == 200 ? true : nil
        }
    }

    /// Sends one request, again as long as the answer says that the keys for its token may still come.
    ///
    /// A server is ready with the keys of one policy, and a request waits two seconds for the fetch of an unknown key
    /// (V-81). Both are too little for tests on a busy machine.
    func ask(
        _ method: String, _ path: String, token: String? = nil, _ headers: [String: String] = [:], body: String? = nil
    ) throws -> RawResponse {
        var headers = headers
        if let token { headers["Authorization"] = "Bearer \(token)" }
        var answer: RawResponse?
        try eventuallyBlocking("the keys") {
            answer = try exchange(port, method, path, headers, body: body.map { Array($0.utf8) })
            return answer?.status != 503 || answer?.text.contains("keys.unavailable") == false
        }
        return try #require(answer)
    }

    /// The owner in the store of whoever has this token.
    func owner(of token: String) throws -> String {
        try JSONValue(parsing: ask("GET", "/api/me", token: token).body)["owner"].string ?? ""
    }

    /// A number of the operators' page; -1 if the page has none of this name.
    func metric(_ name: String) throws -> Int {
        let lines = try exchange(adminPort, "GET", "/metrics").text.split(separator: "\n")
        return lines.first { $0.hasPrefix("\(name) ") }.flatMap { Int($0.dropFirst(name.utf8.count + 1)) } ?? -1
    }

    /// Adds a task, as the sample clients do.
    func add(_ text: String, token: String) throws -> RawResponse {
        try ask(
            "POST", "/api/tasks", token: token, ["Content-Type": "application/json"], body: "{\"task\":\"\(text)\"}")
    }

    /// Opens a stream of changes.
    func stream(token: String) throws -> RawClient {
        let client = try RawClient(port: port, timeout: 180)
        try client.send(
            "GET /api/tasks/changes HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
                + "Accept: text/event-stream\r\n\r\n")
        guard try client.head()?.status == 200 else { throw ChildProcess.Failure(description: "no stream") }
        return client
    }

    /// Sends the head of an addition, waits for `100 Continue`, and sends the beginning of the body.
    func beginToAdd(_ beginning: String, of length: Int, token: String, _ fields: String = "") throws -> RawClient {
        let client = try RawClient(port: port)
        try client.send(
            "POST /api/tasks HTTP/1.1\r\nHost: x\r\n\(fields)Authorization: Bearer \(token)\r\nExpect: 100-continue\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(length)\r\n\r\n")
        guard let answer = try client.response(to: .post), answer.status == 100 else {
            throw ChildProcess.Failure(description: "the server does not wait for the body")
        }
        try client.send(beginning)
        return client
    }

    /// The texts of the owner's tasks.
    func texts(token: String) throws -> [String] {
        let response = try ask("GET", "/api/tasks", token: token)
        guard response.status == 200 else { throw ChildProcess.Failure(description: response.text) }
        let list = try JSONValue(parsing: response.body, limits: JSONLimits(bytes: response.body.count))
        return (list.array ?? []).compactMap { $0["Text"].string }
    }

    /// Ends the server as a service manager does.
    func stop() throws -> ChildProcess.End {
        process.send(SIGTERM)
        return try process.wait()
    }
}

/// Connects as soon as the port is open.
func firstConnection(to port: UInt16) throws -> RawClient {
    var client: RawClient?
    eventuallyBlocking("port \(port) is open") {
        // There are many attempts between two pauses, because the first moment counts.
        for _ in 0..<200 where client == nil { client = try? RawClient(port: port) }
        return client != nil
    }
    return try #require(client)
}

/// Sends one request on a connection of its own.
func exchange(
    _ port: UInt16, _ method: String, _ target: String, _ headers: [String: String] = [:], body: [UInt8]? = nil
) throws -> RawResponse {
    let client = try RawClient(port: port)
    var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let body { head += "Content-Length: \(body.count)\r\n" }
    try client.send(Array((head + "\r\n").utf8) + (body ?? []))
    guard let response = try client.response(to: Method(method)) else {
        throw ChildProcess.Failure(description: "no answer to \(method) \(target.prefix(40))")
    }
    return response
}
