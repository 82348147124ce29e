import HTTP
import JSON
import Platform
import PostgreSQLStore
import SQLiteStore
import Support
import Tasks
import Testing

@testable import TaskAPI

/// Random histories of several clients of one person, each of whom follows the changes at a pace of its own, by
/// questions or by streams, while servers begin anew and lose their sessions.
@Suite("Clients that follow the changes end with the server's list")
struct ChangesModelTests {
    @Test(arguments: zip(FollowedStore.all, isSanitized ? [100, 5, 5, 5] : [1000, 20, 20, 5]))
    func follow(kind: FollowedStore, histories: Int) async throws {
        var random = SeededRandom()
        let start = ContinuousClock.now
        defer {
            print("\(histories * testTimes) histories of \(kind.testDescription) took \(ContinuousClock.now - start)")
        }
        let place = try kind.place(TemporaryFolder())
        for number in 0..<histories * testTimes {
            // In every other history removed tasks are forgotten: by the store in memory soon after, by the others at
            // any time.
            let isForgetful = number.isMultiple(of: 2)
            let first = isForgetful ? 1000 : SystemTime().wallMilliseconds
            var history = try History(at: place, of: "person-\(number)", from: first, isForgetful)
            defer { history.end() }
            try await history.run(&random)
            guard try await history.isGood() else {
                Issue.record("history \(number): \(history.log.joined(separator: "; "))")
                return
            }
        }
    }
}

/// A kind of store behind the API.
struct FollowedStore: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A new database; the folder belongs to the test alone.
    let place: @Sendable (TemporaryFolder) throws -> FollowedPlace

    static let all = [
        FollowedStore(testDescription: "memory") { _ in
            FollowedPlace { MemoryTaskStore(removedTasksKept: $0 ? 40 : RemovedTask.kept) }
        },
        FollowedStore(testDescription: "SQLite") { folder in
            FollowedPlace { _ in
                try SQLiteTaskStore.open(path: folder.file("tasks.db"), options: SQLiteStoreOptions())
            }
        },
        FollowedStore(testDescription: "PostgreSQL") { _ in
            try shared(PostgreSQLServer.started().newDatabase())
        },
        FollowedStore(testDescription: "PostgreSQL through PgBouncer") { _ in
            try shared(PgBouncer.started().newDatabase())
        },
    ]

    private static func shared(_ address: String) throws -> FollowedPlace {
        var place = FollowedPlace { _ in
            var options = PostgreSQLStoreOptions()
            options.pruningMilliseconds = 500
            return try PostgreSQLTaskStore.open(address, options: options)
        }
        place.loseSessions = {
            try PostgreSQLServer.started().command(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = '\(PostgreSQLServer.name(of: address))' AND pid <> pg_backend_pid()
                """)
        }
        return place
    }
}

/// Where stores keep their tasks.
struct FollowedPlace: Sendable {
    /// Opens a store, which may forget removed tasks soon.
    let open: @Sendable (_ isForgetful: Bool) throws -> any TaskStore
    /// Ends the sessions of all stores; nil if the stores have none, and so only one store may be open.
    var loseSessions: (@Sendable () throws -> Void)?

    var isShared: Bool { loseSessions != nil }
}

private struct History {
    private struct Server {
        let store: any TaskStore
        let api: TaskAPI
    }

    private let place: FollowedPlace
    private let owner: Owner
    private let isForgetful: Bool
    private var time: Int64
    private var servers: [Server] = []
    private var clients = (0..<4).map { Follower(streams: $0 >= 2) }
    /// The steps so far, for a person who looks for the reason of a failure.
    private(set) var log: [String] = []

    init(at place: FollowedPlace, of person: String, from time: Int64, _ isForgetful: Bool) throws {
        (self.place, owner, self.time, self.isForgetful) = (place, Owner(person), time, isForgetful)
        for _ in 0..<(place.isShared ? 2 : 1) { servers.append(Self.server(try place.open(isForgetful))) }
    }

    private static func server(_ store: any TaskStore) -> Server {
        Server(store: store, api: TaskAPI(TaskAPIConfiguration(store: store, verifier: NameVerifier())))
    }

    func end() {
        for server in servers { server.store.close() }
    }

    mutating func run(_ random: inout SeededRandom) async throws {
        for _ in 0..<Int.random(in: 5...50, using: &random) {
            time += Int64.random(in: 0...20, using: &random)
            switch Int.random(in: 0..<40, using: &random) {
            case 0: try restart(&random)
            case 1:
                log.append("sessions end")
                try place.loseSessions?()
            case 2..<5:
                let client = Int.random(in: 0..<clients.count, using: &random)
                log.append("client \(client) crashes")
                clients[client].crash(&random)
            case 5..<20: try await write(&random)
            default:
                let client = Int.random(in: 0..<clients.count, using: &random)
                try await step(client, limit: Int.random(in: 1...4, using: &random))
            }
        }
    }

    /// Lets every client go on until it has the list.
    mutating func isGood() async throws -> Bool {
        var list: [JSONValue] = []
        try await eventually("the list is read") {
            // The store may have lost its sessions just now.
            guard let read = try? await servers[0].store.list(.all, of: owner) else { return false }
            list = try JSONValue(parsing: read.json).array ?? []
            return true
        }
        for client in clients.indices {
            let hasList = try await eventually("client \(client) has the list") {
                for _ in 0..<100 {
                    if !clients[client].known.hasMore, clients[client].known.list == list { return true }
                    try await step(client, limit: 3)
                    // The next event comes without a pause, which would take longer than all else.
                    await Task.yield()
                }
                if place.isShared { for server in servers { server.api.streams.check(comparing: true) } }
                return false
            }
            guard hasList else { return false }
        }
        return true
    }

    private mutating func step(_ client: Int, limit: Int) async throws {
        let what = try await clients[client].step(at: servers[client % servers.count].api, of: owner, limit: limit)
        if let what { log.append("client \(client) \(what)") }
    }

    /// Begins a server anew.
    private mutating func restart(_ random: inout SeededRandom) throws {
        let number = Int.random(in: 0..<servers.count, using: &random)
        log.append("server \(number) begins anew")
        servers[number].api.streams.endAll(.stopping)
        // A store in memory would begin without tasks.
        if servers[number].store is MemoryTaskStore {
            servers[number] = Self.server(servers[number].store)
        } else {
            servers[number].store.close()
            servers[number] = Self.server(try place.open(isForgetful))
        }
    }

    /// Makes a few changes at once, at any server.
    private mutating func write(_ random: inout SeededRandom) async throws {
        var writes: [Write] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) { writes.append(try Write(at: time, &random)) }
        let stores = writes.map { _ in servers[Int.random(in: 0..<servers.count, using: &random)].store }
        log.append("writes \(writes) at \(time)")
        try await withThrowingTaskGroup(of: Void.self) { [owner, isShared = place.isShared] group in
            for (write, store) in zip(writes, stores) {
                group.addTask {
                    do throws(StoreError) {
                        try await write.perform(in: store, of: owner)
                    } catch .unavailable where isShared {
                        // The sessions were lost, and nobody knows whether the change was made.
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// One change of a list.
private struct Write: Sendable, CustomStringConvertible {
    private let choice: Int
    private let ids: [Int64]
    private let text: TaskText
    private let change: TaskChange
    private let time: Int64

    // Swift's own description takes long.
    var description: String { "\(choice) of \(ids)" }

    init(at time: Int64, _ random: inout SeededRandom) throws {
        (self.time, choice) = (time, Int.random(in: 0..<10, using: &random))
        ids = Array(Set((0..<3).map { _ in Int64.random(in: 1...12, using: &random) }))
        text = try TaskText("text \(Int.random(in: 1...3, using: &random))")
        change = TaskChange(text: text, completed: Bool.random(using: &random))
    }

    func perform(in store: any TaskStore, of owner: Owner) async throws(StoreError) {
        switch choice {
        case 0...3:
            let addition = AddTask(owner: owner, text: text, completed: false, time: time, key: nil, limit: 10_000)
            _ = try await store.perform(addition)
        case 4...5: _ = try await store.change(ids[0], change, expected: nil, at: time, of: owner)
        case 6:
            let changes = ids.map { IdentifiedChange(id: $0, change: change) }
            _ = try await store.changeAll(changes, at: time, of: owner)
        case 7: _ = try await store.remove(ids[0], expected: nil, at: time, of: owner)
        case 8: _ = try await store.removeAll(with: text, at: time, of: owner)
        default: _ = try await store.removeCompleted(at: time, of: owner)
        }
    }
}

/// A client that asks, or takes the place of the HTTP server at the end of a stream.
private struct Follower {
    let streams: Bool
    private(set) var known = FollowedList()
    private var stream: ResponseStream?
    /// What came of an event that is not whole.
    private var beginning: [UInt8] = []

    init(streams: Bool) { self.streams = streams }

    /// Loses what it did not store: an answer that is under way, or the rest of an event.
    mutating func crash(_ random: inout SeededRandom) {
        if let stream { receive(from: stream, atMost: Int.random(in: 0...200, using: &random)) }
        stream?.close()
        (stream, beginning) = (nil, [])
    }

    /// Asks once, opens the stream, or takes an event of the stream; returns the name of the step, if the client took
    /// one.
    mutating func step(at api: TaskAPI, of owner: Owner, limit: Int) async throws -> String? {
        if let stream {
            receive(from: stream, atMost: .max)
            return try takeEvents()
        }
        var target = "/api/tasks/changes?limit=\(limit)"
        if !streams, let next = known.next { target += "&since=\(next)" }
        var fields = ["Authorization": "Bearer \(owner.identifier)", "Accept": "application/problem+json"]
        if streams {
            fields["Accept"] = "text/event-stream"
            fields["Last-Event-ID"] = known.next
        }
        let head = RequestHead(
            method: .get, target: try RequestTarget(parsing: target, host: nil),
            headers: HeaderSection(fields.map { HeaderSection.Field(name: $0.key, value: $0.value) }))
        let answer = await api.decide(on: head).answered()
        switch answer.status {
        case 200: if !streams { known.take(try JSONValue(parsing: answer.body)) }
        case 410: known = FollowedList()
        default: #expect(answer.status == 503, "\(answer.text)")
        }
        stream = answer.stream
        return "asks for \(target): \(answer.status)"
    }

    private mutating func receive(from stream: ResponseStream, atMost limit: Int) {
        withUnsafeTemporaryAllocation(byteCount: min(limit, 4096), alignment: 1) { buffer in
            while beginning.count < limit {
                let count = stream.take(into: buffer)
                guard count > 0 else { return stream.drained() }
                beginning += buffer[..<count]
            }
        }
    }

    private mutating func takeEvents() throws -> String? {
        var count = 0
        while let end = beginning.firstRange(of: Array("\n\n".utf8)) {
            let event = String(decoding: beginning[..<end.lowerBound], as: UTF8.self)
            beginning.removeFirst(end.upperBound)
            count += 1
            if try known.take(event: event) != nil {
                #expect(stream?.condition(isStopping: false) == .isOver && beginning.isEmpty)
                stream = nil
            }
        }
        return count > 0 ? "takes \(count) events" : nil
    }
}
