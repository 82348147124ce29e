// A to-do list in a file that works offline, follows a task-server, and sends what was changed (docs/sync.md).
import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Item: Codable { var Id: Int, Text: String, completed: Bool }

/// A change that waits until the server has it: of a new task without an id; without values it is a removal.
struct Change: Codable {
    var id: Int?, text: String?, completed: Bool?
    /// The text that the person saw, and a key that makes an addition safe to repeat.
    var seen: String?, key = UUID().uuidString
}

/// The answer to a question for changes, and the data of an event.
struct Changes: Codable { var changed: [Item], removed: [Int], next: String, more: Bool }
struct Refused: Error { let status: Int }

actor SyncedList {
    private struct State: Codable { var since: String?, tasks: [Int: Item] = [:], waiting: [Change] = [] }
    private let url: String, file: URL, token: @Sendable () async -> String
    private var state = State()

    /// The token is asked for each time, because it lives for an hour only.
    init(_ url: String, file: URL, token: @escaping @Sendable () async -> String) {
        (self.url, self.file, self.token) = (url, file, token)
        if let data = try? Data(contentsOf: file) { state = (try? JSONDecoder().decode(State.self, from: data)) ?? State() }
    }

    var tasks: [Item] { state.tasks.values.sorted { $0.Id < $1.Id } }

    /// Notes a change, which the next ``push()`` sends.
    func note(_ change: Change) throws {
        var change = change
        if let id = change.id, let text = change.text {
            change.seen = state.tasks[id]?.Text
            state.tasks[id]?.Text = text
        }
        state.waiting.append(change)
        try save()
    }

    /// Tasks, point and waiting changes are written together, so a crash never leaves a point whose tasks are missing.
    private func save() throws { try JSONEncoder().encode(state).write(to: file, options: .atomic) }

    private func request(_ path: String, _ headers: [String: String] = [:]) async throws -> URLRequest {
        guard let address = URL(string: url + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: address, timeoutInterval: 45)  // A stream says something every 15 s.
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.setValue("Bearer \(await token())", forHTTPHeaderField: "Authorization")
        return request
    }

    private func answer(_ path: String, _ method: String = "GET", _ body: [String: any Sendable]? = nil, _ headers: [String: String] = [:])
        async throws -> (status: Int, tag: String?, data: Data)
    {
        while true {
            var request = try await request(path, headers.merging(["Content-Type": "application/json"]) { $1 })
            request.httpMethod = method
            request.httpBody = try body.map { try JSONSerialization.data(withJSONObject: $0) }
            let (data, response) = try await URLSession.shared.data(for: request)
            guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            let status = response.statusCode
            guard [429, 503].contains(status) else { return (status, response.value(forHTTPHeaderField: "ETag"), data) }
            try await Task.sleep(for: .seconds(Int(response.value(forHTTPHeaderField: "Retry-After") ?? "") ?? 1))
        }
    }

    /// Sends what waits, in its order. What the server refuses is left out and returned, to tell the person.
    func push() async throws -> [(Change, status: Int)] {
        var refused: [(Change, status: Int)] = []
        while let change = state.waiting.first {
            let status = try await send(change)
            if status == 401 || status >= 500 { throw Refused(status: status) }
            if status >= 400 { refused.append((change, status)) }
            state.waiting.removeFirst()
            try save()
        }
        return refused
    }

    private func send(_ change: Change) async throws -> Int {
        let new = ["task": change.text ?? ""]
        guard let id = change.id else { return try await answer("/api/tasks", "POST", new, ["Idempotency-Key": change.key]).status }
        let path = "/api/tasks/\(id)"
        if let completed = change.completed { return try await answer(path, "PATCH", ["completed": completed]).status }
        guard let text = change.text else { return try await answer(path, "DELETE").status }
        // A text replaces only the text that the person saw.
        let found = try await answer(path)
        guard found.status == 200 else { return found.status }
        let now = try JSONDecoder().decode(Item.self, from: found.data).Text
        guard now == change.seen, let tag = found.tag else { return now == text ? 200 : 412 }
        return try await answer(path, "PATCH", ["Text": text], ["If-Match": tag]).status
    }

    /// Fetches what was changed since the last time.
    func pull() async throws {
        var more = true
        while more {
            let answer = try await answer("/api/tasks/changes" + (state.since.map { "?since=\($0)" } ?? ""))
            switch answer.status {
            case 200: more = try apply(answer.data)
            case 410: (state.since, state.tasks) = (nil, [:])  // The point is too old: the whole list is read again.
            default: throw Refused(status: answer.status)
            }
        }
    }

    private func apply(_ data: Data) throws -> Bool {
        let changes = try JSONDecoder().decode(Changes.self, from: data)
        for id in changes.removed { state.tasks[id] = nil }
        for task in changes.changed { state.tasks[task.Id] = task }
        state.since = changes.next
        try save()
        return changes.more
    }

    /// Calls `onChange` at each change until the token or the connection ends; then call ``pull()`` and this again.
    func follow(_ onChange: @Sendable ([Item]) -> Void) async throws {
        let (lines, received) = AsyncThrowingStream<String, any Error>.makeStream()
        let session = URLSession(configuration: .default, delegate: Lines(received), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let headers = ["Accept": "text/event-stream", "Last-Event-ID": state.since ?? ""]
        session.dataTask(with: try await request("/api/tasks/changes", headers)).resume()
        var event = ""
        for try await line in lines {
            if line.hasPrefix("event: ") { event = String(line.dropFirst(7)) }
            guard event == "changes", line.hasPrefix("data: ") else { continue }
            _ = try apply(Data(line.dropFirst(6).utf8))
            onChange(tasks)
        }
    }
}

/// Cuts what a stream brings into lines, on the session's queue.
final class Lines: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let received: AsyncThrowingStream<String, any Error>.Continuation
    private var rest = Data()

    init(_ received: AsyncThrowingStream<String, any Error>.Continuation) { self.received = received }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        var lines = (rest + data).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Data(lines.popLast() ?? Data())
        for line in lines { received.yield(String(decoding: line, as: UTF8.self)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { received.finish(throwing: error) }
}
