import HTTP
import JSON
import Synchronization

/// The requests of a run, so that tests can say what a client sent.
///
/// Everything is in it, secrets too: they are the mock's own.
final class RecordedRequests: Sendable {
    private static let longestBody = 16384
    private let entries = Mutex(RecentEntries<JSONObject>(limit: 200))

    /// All entries, oldest first.
    var all: [JSONValue] { after(0).map { .object($0.entry) } }

    /// The entries of higher numbers than this one, oldest first.
    func after(_ number: Int) -> [RecentEntries<JSONObject>.Numbered] { entries.withLock { $0.after(number) } }

    /// Notes a request and the status of its answer.
    func note(_ head: RequestHead, body: [UInt8], status: Status, now: Int64) {
        let fields = head.headers.fields.map { field -> JSONValue in [.string(field.name), .string(field.value)] }
        var entry = JSONObject([
            ("at", .integer(now)), ("method", .string(head.method.name)), ("target", .string(head.target.raw)),
            ("headers", .array(fields)),
        ])
        if !body.isEmpty {
            entry["body"] = .string(String(decoding: body.prefix(Self.longestBody), as: UTF8.self))
        }
        entry["status"] = .integer(Int64(status.rawValue))
        entries.withLock { $0.append(entry) }
    }
}

extension RequestContext {
    /// The decision, which is logged when its response is known.
    func logged(_ decision: Decision) -> Decision {
        guard case .readBody(let limit, let decide) = decision else { return logged(decision, body: []) }
        return .readBody(limit: limit) { logged(decide($0), body: $0) }
    }

    private func logged(_ decision: Decision, body: [UInt8]) -> Decision {
        decision.map { response in
            run.recordedRequests.note(head, body: body, status: response.status, now: now)
            return response
        }
    }
}
