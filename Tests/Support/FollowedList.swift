import JSON

/// A person's list, as a client knows it that follows the changes.
package struct FollowedList {
    private var tasks: [Int64: JSONValue] = [:]
    /// The token of the next question; nil to begin with the whole list.
    package private(set) var next: String?
    /// Whether there is more to ask for at once.
    package private(set) var hasMore = true

    package init() {}

    /// The tasks in the order of ids.
    package var list: [JSONValue] { tasks.sorted { $0.key < $1.key }.map(\.value) }

    /// Takes the answer to a question.
    package mutating func take(_ page: JSONValue) {
        for task in page["changed"].array ?? [] {
            if let id = task["Id"].integer { tasks[id] = task }
        }
        for id in page["removed"].array ?? [] {
            if let id = id.integer { tasks[id] = nil }
        }
        (next, hasMore) = (page["next"].string, page["more"].boolean ?? true)
    }

    /// Takes an event of a stream; returns the reason if the stream ends with it.
    package mutating func take(event: String) throws -> String? {
        let lines = event.split(separator: "\n")
        // A comment has no data.
        guard let data = lines.first(where: { $0.hasPrefix("data: ") }) else { return nil }
        let value = try JSONValue(parsing: Array(data.utf8.dropFirst(6)))
        if let reason = value["reason"].string {
            if reason == "changes.forgotten" { self = FollowedList() }
            return reason
        }
        take(value)
        // The id of an event is where a stream goes on.
        guard let id = lines.first(where: { $0.hasPrefix("id: ") }), id.dropFirst(4) == next ?? "" else {
            throw ChildProcess.Failure(description: "the id is not next: \(event)")
        }
        return nil
    }
}
