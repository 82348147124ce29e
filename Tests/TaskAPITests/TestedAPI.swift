import HTTP
import HTTPServer
import JSON
import Support
import TaskAPI
import Testing
import Tokens

/// How a test reaches the API: by a call of the object itself, or through a server on a free port.
///
/// The same test runs with both.
enum Transport: CaseIterable, Sendable {
    case inProcess, socket
}

/// An API over an empty store in memory, whose tokens are names.
struct TestedAPI: Sendable {
    let transport: Transport
    let api: TaskAPI
    /// What the API reported to its observer.
    let records = Recorded<RequestRecord>()

    init(_ transport: Transport, _ change: (inout TaskAPIConfiguration) -> Void = { _ in }) {
        self.transport = transport
        var configuration = TaskAPIConfiguration(store: MemoryTaskStore(), verifier: NameVerifier())
        configuration.observe = records.append
        change(&configuration)
        api = TaskAPI(configuration)
    }

    /// One request and its answer.
    ///
    /// A token is a name that `NameVerifier` knows.
    func send(
        _ method: String, _ target: String, as token: String? = nil, _ headers: [(String, String)] = [],
        _ body: [UInt8] = []
    ) async throws -> Response {
        var fields = headers
        if let token { fields.append(("Authorization", "Bearer \(token)")) }
        switch transport {
        case .inProcess: return try await decide(method, target, fields, body)
        case .socket:
            // It waits for an answer, perhaps of what needs a thread of the pool.
            let thread = try OwnThread()
            defer { thread.end() }
            return try await withTaskExecutorPreference(thread) { try exchange(method, target, fields, body) }
        }
    }

    func send(
        _ method: String, _ target: String, as token: String? = nil, _ headers: [(String, String)] = [], _ body: String
    ) async throws -> Response {
        try await send(method, target, as: token, headers, Array(body.utf8))
    }

    private func decide(
        _ method: String, _ target: String, _ fields: [(String, String)], _ body: [UInt8]
    ) async throws -> Response {
        let head = RequestHead(
            method: Method(method), target: try RequestTarget(parsing: target, host: nil),
            headers: HeaderSection(fields.map { HeaderSection.Field(name: $0.0, value: $0.1) }))
        var response = await api.decide(on: head).answered(body)
        if head.method == .head { response.body = [] }
        return response
    }

    private func exchange(
        _ method: String, _ target: String, _ fields: [(String, String)], _ body: [UInt8]
    ) throws -> Response {
        // Other tests may keep the pool busy for long.
        var limits = ServerLimits()
        (limits.headerTime, limits.suspensionTime, limits.requestTime) = (.seconds(300), .seconds(300), .seconds(300))
        let server = try HTTPServer(port: 0, limits: limits, handler: api)
        defer { server.stop(patience: .zero) }
        let client = try RawClient(port: server.port, timeout: 180)
        var request = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
        for (name, value) in fields { request += "\(name): \(value)\r\n" }
        if !body.isEmpty { request += "Content-Length: \(body.count)\r\n" }
        try client.send(Array((request + "\r\n").utf8) + body)
        let answer = try #require(try client.response(to: Method(method)))
        var lines = FieldLines()
        for field in answer.headers.fields { lines.append(field.name, field.value) }
        return Response(Status(rawValue: answer.status), headers: lines, body: answer.body)
    }
}

/// Tokens are names: what a test asks for, without keys.
struct NameVerifier: TokenVerifier {
    /// What the source of all these tokens requires.
    var required = RequiredScopes()

    static let alice = "0a1b2c3d-0000-4000-8000-00000000000a"
    static let bob = "0a1b2c3d-0000-4000-8000-00000000000b"

    /// Two owners that Swift takes for equal: in NFC, and in NFD.
    static let (composed, decomposed) = ("\u{e9}", "e\u{301}")

    func beginVerifying(_ token: String) throws(TokenRefusal) -> Verification {
        switch token {
        case "alice": .verified(principal(Self.alice, []))
        case "bob": .verified(principal(Self.bob, []))
        // She has signed in again, after everything else that happens in a test.
        case "alice-later": .verified(principal(Self.alice, [], issued: 4_000_000_000))
        case "alice-read": .verified(principal(Self.alice, ["tasks.read"]))
        case "alice-slow": .waiting { () async throws(TokenRefusal) in await slowly(principal(Self.alice, [])) }
        case "composed": .verified(principal(Self.composed, []))
        case "decomposed": .verified(principal(Self.decomposed, []))
        case "alice-of-ext": .verified(principal(Self.alice, [], source: "ext"))
        case _ where token.hasPrefix("person-"): .verified(principal(token, []))
        case "outdated": throw .expired
        case "endless": throw .tooLong
        case "application": throw .applicationToken(lacking: required.read)
        case "unverifiable": throw .keysUnavailable(retryAfter: 7)
        default: throw .badSignature
        }
    }

    /// Alice was here before: so both ways to a principal are tested.
    func cachedPrincipal(of token: ArraySlice<UInt8>) -> Principal? {
        token.elementsEqual("alice".utf8) ? principal(Self.alice, []) : nil
    }

    private func slowly(_ principal: Principal) async -> Principal {
        try? await Task.sleep(nanoseconds: 20_000_000)
        return principal
    }

    private func principal(
        _ owner: String, _ scopes: [String], source: String? = nil, issued: Int64 = 1_700_000_000
    ) -> Principal {
        Principal(
            owner: owner, name: "Alice", policy: "b2c_1_sign_in", scopes: scopes, expiry: 1_800_000_000,
            issued: issued, source: source, required: required)
    }
}

/// Fields that requests of many tests have.
let json = ("Content-Type", "application/json")
let form = ("Content-Type", "application/x-www-form-urlencoded")
let problemJSON = ("Accept", "application/problem+json")

extension Response {
    var text: String { String(decoding: body, as: UTF8.self) }
    /// The content as a JSON object.
    var object: JSONObject { get throws { try #require(try JSONValue(parsing: body).object, "\(text)") } }
    /// The code of a problem in JSON.
    var code: String? { try? object["code"]?.string }
}
