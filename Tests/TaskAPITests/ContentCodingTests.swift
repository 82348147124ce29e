import HTTP
import SQLiteStore
import Support
import TaskAPI
import Tasks
import Testing

@Suite("Lists and files are compressed for clients that ask for it")
struct ContentCodingTests {
    private static let gzip = ("Accept-Encoding", "gzip, deflate, br")
    private static let style = Array(repeating: "p { margin: 0 }\n", count: 100).joined()
    private static let noise = SeededNoise.bytes(3000)

    /// Alice has this many tasks, each of some 300 bytes, and `Public/` a style sheet, a picture and a short script.
    private func api(
        _ transport: Transport = .inProcess, tasks: Int, _ change: (inout TaskAPIConfiguration) -> Void = { _ in }
    ) async throws -> TestedAPI {
        let api = TestedAPI(transport) { configuration in
            let files = [
                "app.css": Array(Self.style.utf8), "icon.png": Array(Self.style.utf8), "short.js": [0x3B],
                "noise.svg": Self.noise,
            ]
            for (name, bytes) in files { configuration.files[name] = PublicFile(name: name, bytes: bytes) }
            change(&configuration)
        }
        for number in 0..<tasks {
            #expect(try await api.send("POST", "/api/tasks", as: "alice", [], "task=Buy+milk+\(number)").status == 201)
        }
        return api
    }

    @Test("A list is the same in both codings, each with a tag of its own", arguments: Transport.allCases, [4, 80])
    func list(transport: Transport, tasks: Int) async throws {
        let api = try await api(transport, tasks: tasks)
        let plain = try await api.send("GET", "/api/tasks", as: "alice")
        #expect(plain.headers["Content-Encoding"] == nil && plain.body.count > 1024)
        #expect(plain.headers.values("Vary") == ["Authorization, Accept, Accept-Encoding"])
        for target in ["/api/tasks", "/api/tasks", "/api/tasks?limit=1000", "/api/tasks/anybody"] {
            let coded = try await api.send("GET", target, as: "alice", [Self.gzip])
            #expect(coded.headers.values("Content-Encoding") == ["gzip"])
            #expect(coded.headers["Content-Type"] == plain.headers["Content-Type"])
            #expect(coded.headers.values("Vary") == ["Authorization, Accept, Accept-Encoding"])
            #expect(coded.headers["Cache-Control"] == "private, no-store")
            #expect(try decompressed(coded.body) == plain.body)
            #expect(coded.body.count < plain.body.count / 2)
            let tag = try #require(plain.headers["ETag"])
            #expect(coded.headers.values("ETag") == ["\(tag.dropLast())-gzip\""])
            let head = try await api.send("HEAD", target, as: "alice", [Self.gzip])
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.headers["ETag"] == coded.headers["ETag"] && head.headers["Content-Encoding"] == "gzip")
        }
        #expect(try await api.send("GET", "/api/tasks", as: "alice", [("Accept-Encoding", "br")]).body == plain.body)
    }

    @Test(arguments: Transport.allCases)
    func `What is short, and what has no second form, goes out as it is`(transport: Transport) async throws {
        let api = try await api(transport, tasks: 3)
        for target in ["/api/tasks", "/api/tasks/1", "/api/me", "/short.js", "/icon.png", "/config.json", "/none"] {
            let answer = try await api.send("GET", target, as: "alice", [Self.gzip])
            let plain = try await api.send("GET", target, as: "alice")
            #expect(answer.headers["Content-Encoding"] == nil, "\(target)")
            if target != "/none" { #expect(answer.body == plain.body, "\(target)") }
            #expect(answer.headers["ETag"] == plain.headers["ETag"], "\(target)")
        }
        #expect(try await api.send("GET", "/icon.png").headers["Vary"] == nil)
    }

    @Test(arguments: Transport.allCases)
    func `A file, and what gzip does not make shorter`(transport: Transport) async throws {
        let api = try await api(transport, tasks: 0)
        let plain = try await api.send("GET", "/app.css")
        #expect(plain.text == Self.style && plain.headers.values("Vary") == ["Accept-Encoding"])
        let coded = try await api.send("GET", "/app.css", as: nil, [Self.gzip])
        #expect(coded.headers["Content-Encoding"] == "gzip" && coded.headers.values("Vary") == ["Accept-Encoding"])
        #expect(coded.headers["Content-Security-Policy"] == plain.headers["Content-Security-Policy"])
        #expect(try decompressed(coded.body) == plain.body)
        for _ in 0..<2 {
            let noise = try await api.send("GET", "/noise.svg", as: nil, [Self.gzip])
            #expect(noise.headers["Content-Encoding"] == nil && noise.body == Self.noise)
        }
    }

    @Test(arguments: ["/api/tasks", "/app.css"])
    func `If-None-Match knows the tags of all codings that the client accepts`(target: String) async throws {
        let api = try await api(tasks: 4)
        func ask(_ known: String, _ fields: (String, String)...) async throws -> Response {
            try await api.send("GET", target, as: "alice", fields + [("If-None-Match", known)])
        }
        let plain = try #require(try await api.send("GET", target, as: "alice").headers["ETag"])
        let coded = "\(plain.dropLast())-gzip\""
        for known in [coded, plain, "W/\(coded)", "\"x\", \(coded)"] {
            let answer = try await ask(known, Self.gzip)
            #expect(answer.status == 304 && answer.body.isEmpty, "\(known)")
            #expect(answer.headers.values("ETag") == [known == plain ? plain : coded], "\(known)")
            #expect(answer.headers["Content-Encoding"] == nil)
            #expect(answer.headers["Vary"]?.hasSuffix("Accept-Encoding") == true)
        }
        #expect(try await ask(plain).status == 304)
        for known in ["W/\(plain)", "\(plain.dropLast())-br\"", "\(plain)-br"] {
            let answer = try await ask(known, Self.gzip)
            #expect(answer.status == 304 && answer.headers.values("ETag") == [plain], "\(known)")
        }
        // A cache that has the compressed form asks for a client that does not accept it.
        #expect(try await ask(coded).status == 200)
        #expect(try await ask(coded, ("Accept-Encoding", "gzip;q=0")).status == 200)
        #expect(try await ask("\"x-gzip\"", Self.gzip).status == 200)
    }

    @Test func `A change is seen in both codings, and another's list never`() async throws {
        let cached = try CachingStore()
        defer { cached.store.close() }
        let api = try await api(tasks: 80) { $0.store = cached.store }
        for number in 0..<80 { _ = try await api.send("POST", "/api/tasks", as: "bob", [], "task=Call+\(number)") }
        var seen: Set<[UInt8]> = []
        for number in 0..<3 {
            let plain = try await api.send("GET", "/api/tasks", as: "alice")
            let coded = try await api.send("GET", "/api/tasks", as: "alice", [Self.gzip])
            #expect(coded.headers["Content-Encoding"] == "gzip")
            #expect(try decompressed(coded.body) == plain.body)
            #expect(seen.insert(plain.body).inserted)
            let bob = try await api.send("GET", "/api/tasks", as: "bob", [Self.gzip])
            #expect(!(try decompressed(bob.body)).isEmpty && bob.body != coded.body)
            let revision = ("If-Match", "\"1.\(number + 1)-gzip\"")
            let change = try await api.send("PATCH", "/api/tasks/1", as: "alice", [revision], "task=Changed\(number)")
            #expect(change.status == 200)
        }
    }

    @Test func `All who are sent a state share one copy of it, also those who ask at once`() async throws {
        let cached = try CachingStore()
        defer { cached.store.close() }
        let api = try await api(tasks: 80) { $0.store = cached.store }
        let responses = try await atOnce(0..<32) { _ in
            try await api.send("GET", "/api/tasks", as: "alice", [Self.gzip])
        }
        #expect(Set(responses.map(\.address)).count == 1)
        #expect(responses.allSatisfy { $0.headers["Content-Encoding"] == "gzip" })
        let file = try await api.send("GET", "/app.css", as: nil, [Self.gzip])
        #expect(try await api.send("GET", "/app.css", as: nil, [Self.gzip]).address == file.address)
    }

    @Test(arguments: [40, 80])
    func `Event loops compress only short lists, and answer at once with a form that is made`(tasks: Int) async throws {
        let cached = try CachingStore()
        defer { cached.store.close() }
        let api = try await api(tasks: tasks) { $0.store = cached.store }
        let size = try await api.send("GET", "/api/tasks", as: "alice").body.count
        let fields = [Self.gzip, ("Authorization", "Bearer alice")]
        let head = RequestHead(
            method: .get, target: try RequestTarget(parsing: "/api/tasks", host: nil),
            headers: HeaderSection(fields.map { HeaderSection.Field(name: $0.0, value: $0.1) }))
        for isMade in [false, true] {
            let decision = api.api.decide(on: head)
            if case .respond = decision {
                #expect(isMade || size <= AnswerMemory.unplaced)
            } else {
                #expect(!isMade && size > AnswerMemory.unplaced)
            }
            #expect(await decision.answered().headers["Content-Encoding"] == "gzip")
        }
    }

    @Test func `Those who are sent a long list in either form share its place`() async throws {
        let cached = try CachingStore()
        defer { cached.store.close() }
        let (api, answers) = (try await api(tasks: 80) { $0.store = cached.store }, cached.answers)
        var responses = [try await api.send("GET", "/api/tasks", as: "alice")]
        for _ in 0..<3 { responses.append(try await api.send("GET", "/api/tasks", as: "alice", [Self.gzip])) }
        #expect(responses[3].headers["Content-Encoding"] == "gzip")
        #expect(responses[0].body.count > AnswerMemory.unplaced)
        await eventually { answers.statistics == .init(held: answers.pageSize, refused: 0) }
        responses = []
        // The thread that compressed the list may be about to release it.
        await eventually("the place is given back") { answers.statistics.held == 0 }
    }
}

/// A store that keeps lists in memory.
private struct CachingStore {
    let answers: AnswerMemory
    let store: SQLiteTaskStore
    private let folder: TemporaryFolder

    init(answers: AnswerMemory = AnswerMemory()) throws {
        self.answers = answers
        folder = try TemporaryFolder()
        var options = SQLiteStoreOptions()
        options.answers = answers
        store = try SQLiteTaskStore.open(path: folder.file("tasks.db"), options: options)
    }
}

extension Response {
    /// Where its content is in memory.
    fileprivate var address: Int { body.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
}

private enum SeededNoise {
    static func bytes(_ count: Int) -> [UInt8] {
        var random = SeededRandom(seed: 1, for: "noise")
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}
