import HTTP

extension Decision {
    /// Returns the final answer to a request with this body; as by a server, one beyond the limit is refused.
    package func answered(_ body: [UInt8] = []) async -> Response {
        switch self {
        case .respond(let response): return response
        case .wait: return await ended().answered(body)
        case .readBody(let limit, let decide):
            return body.count <= limit ? await decide(body).answered() : Response(413)
        }
    }

    /// Returns the decision after the wait, if this one waits.
    package func ended() async -> Decision {
        guard case .wait(let begin) = self else { return self }
        let decide = await withCheckedContinuation { continuation in
            _ = begin { continuation.resume(returning: $0) }
        }
        return decide()
    }
}
