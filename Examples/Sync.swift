// A to-do list in a file that works offline, follows a task-server, and sends what was changed (docs/sync.md).
import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
struct Item: Codable { var Id: Int, task: String, completed: Bool, revision: Int }

/// A change that waits until the server has it: of a new task without an id; without values it is a removal.
struct Change: Codable {
    var id: Int?, text: String?, completed: Bool?
    /// The revision that the person saw, and a key that makes an addition safe to repeat.
    var seen: Int?, key = UUID().uuidString
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
        change.seen = change.id.flatMap { state.tasks[$0]?.revision }
        if let id = change.id, let text = change.text { state.tasks[id]?.task = text }
        state.waiting.append(change)
        try save()
    }

    /// Tasks, point and waiting changes are written together, so a crash never leaves a point whose tasks are missing.
    private func save() throws { try JSONEncoder().encode(state).write(to: file, options: .atomic) }

    private func request(_ path: String, _ headers: [String: String] = [:]) async throws -> URLRequest {
        guard let address = URL(string: url + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: address, timeoutInterval: 45)  // A stream says something every 15 s.
        request.allHTTPHeaderFields = headers.merging(["Authorization": "Bearer \(await token())", "Accept": "application/json; names=one"]) { own, _ in own }
        return request
    }

    private func answer(_ path: String, _ method: String = "GET", _ body: [String: any Sendable]? = nil, _ headers: [String: String] = [:])
        async throws -> (status: Int, data: Data) {
        while true {
            var request = try await request(path, headers.merging(["Content-Type": "application/json"]) { $1 })
            request.httpMethod = method
            request.httpBody = try body.map { try JSONSerialization.data(withJSONObject: $0) }
            let (data, response) = try await URLSession.shared.data(for: request)
            guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            guard [429, 503].contains(response.statusCode) else { return (response.statusCode, data) }
            try await Task.sleep(for: .seconds(Int(response.value(forHTTPHeaderField: "Retry-After") ?? "") ?? 1))
        }
    }

    /// Sends what waits, in its order. What the server refuses is left out and returned, to tell the person.
    func push() async throws -> [(Change, status: Int)] {
        var refused: [(Change, status: Int)] = []
        while let change = state.waiting.first {
            let (status, data) = try await send(change)
            if status == 401 || status >= 500 { throw Refused(status: status) }
            if status >= 400 { refused.append((change, status)) }
            state.waiting.removeFirst()
            // What the person did to the task later, they did to what this change has made of it.
            let task = try? JSONDecoder().decode(Item.self, from: data)
            for index in state.waiting.indices where state.waiting[index].id == task?.Id { state.waiting[index].seen = task?.revision }
            try save()
        }
        return refused
    }

    private func send(_ change: Change) async throws -> (status: Int, data: Data) {
        guard let id = change.id else { return try await answer("/api/tasks", "POST", ["task": change.text ?? ""], ["Idempotency-Key": change.key]) }
        // The server refuses to change or remove what another device has changed since the person saw it.
        let (path, guarded) = ("/api/tasks/\(id)", change.seen.map { ["If-Match": "\"\(id).\($0)\""] } ?? [:])
        let values: [String: any Sendable] = change.completed.map { ["completed": $0] } ?? change.text.map { ["task": $0] } ?? [:]
        let sent = try await answer(path, values.isEmpty ? "DELETE" : "PATCH", values.isEmpty ? nil : values, guarded)
        guard sent.status == 412 else { return sent }
        let found = try await answer(path)  // Perhaps the change was made before, and its answer got lost.
        let now = try? JSONDecoder().decode(Item.self, from: found.data)
        return now.map { $0.task == change.text || $0.completed == change.completed } ?? false ? found : sent
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

    /// Calls `onChange` at each change from the last ``pull()`` on; returns the reason for which the server ended the stream.
    func follow(_ onChange: @Sendable ([Item]) -> Void) async throws -> String? {
        let (lines, received) = AsyncThrowingStream<String, any Error>.makeStream()
        let session = URLSession(configuration: .default, delegate: Lines(received), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: try await request("/api/tasks/changes", ["Accept": "text/event-stream; names=one", "Last-Event-ID": state.since ?? ""])).resume()
        var event = ""
        for try await line in lines {
            if line.hasPrefix("event: ") { event = String(line.dropFirst(7)) }
            guard line.hasPrefix("data: ") else { continue }
            let data = Data(line.dropFirst(6).utf8)
            if event == "end" { return try JSONDecoder().decode([String: String].self, from: data)["reason"] }
            _ = try apply(data)
            onChange(tasks)
        }
        return nil
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

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 200
        received.finish(throwing: error ?? (status == 200 ? nil : Refused(status: status)))
    }
}
