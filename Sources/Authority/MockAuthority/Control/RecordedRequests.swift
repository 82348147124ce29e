import HTTP
import JSON

extension RequestContext {
    /// The decision, which is logged when its response is known.
    func logged(_ decision: Decision) -> Decision {
        guard case .readBody(let limit, let decide) = decision else { return logged(decision, body: []) }
        return .readBody(limit: limit) { logged(decide($0), body: $0) }
    }

    /// Notes the request and the status of its answer, so that tests can say what a client sent.
    ///
    /// The entry has everything, also secrets: they are the mock's own.
    private func logged(_ decision: Decision, body: [UInt8]) -> Decision {
        decision.map { response in
            let fields = head.headers.fields.map { field -> JSONValue in [.string(field.name), .string(field.value)] }
            var entry: JSONObject = [
                "at": .integer(now), "method": .string(head.method.name), "target": .string(head.target.raw),
                "headers": .array(fields),
            ]
            if !body.isEmpty { entry["body"] = .string(String(decoding: body.prefix(16384), as: UTF8.self)) }
            entry["status"] = .integer(Int64(response.status.rawValue))
            run.recordedRequests.append(entry)
            return response
        }
    }
}
