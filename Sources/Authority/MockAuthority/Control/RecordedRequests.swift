import HTTP
import JSON

extension RecentEntries<JSONObject> {
    /// Notes a request and the status of its answer, so that tests can say what a client sent.
    ///
    /// The entry has everything, also secrets: they are the mock's own.
    fileprivate func note(_ head: RequestHead, body: [UInt8], status: Status, now: Int64) {
        let fields = head.headers.fields.map { field -> JSONValue in [.string(field.name), .string(field.value)] }
        var entry = JSONObject([
            ("at", .integer(now)), ("method", .string(head.method.name)), ("target", .string(head.target.raw)),
            ("headers", .array(fields)),
        ])
        if !body.isEmpty { entry["body"] = .string(String(decoding: body.prefix(16384), as: UTF8.self)) }
        entry["status"] = .integer(Int64(status.rawValue))
        append(entry)
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
