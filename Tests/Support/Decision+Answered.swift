import HTTP

extension Decision {
    /// Returns the final answer to a request with this body.
    package func answered(_ body: [UInt8] = []) async -> Response {
        switch self {
        case .respond(let response): return response
        case .later(let decide): return await decide().answered(body)
        case .readBody(let limit, let decide):
            precondition(body.count <= limit, "a server refuses a longer body by itself")
            return await decide(body).answered()
        }
    }
}
