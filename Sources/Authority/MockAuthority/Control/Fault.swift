import HTTP

/// A failure that is injected at an endpoint for some requests.
struct Fault: Sendable, Equatable {
    /// The endpoint, as `at` of the control names it.
    enum Endpoint: String, Sendable, CaseIterable {
        case keys, metadata, token, authorize
    }

    var endpoint: Endpoint
    var times: Int64
    var delayMilliseconds: Int64
    /// The status of the response in place of the endpoint's; `nil` if the endpoint answers.
    var status: Int64?
    var retryAfter: Int64?
    var body: String
    /// Whether the connection is closed in place of the response.
    var cut: Bool
}

/// What a token request of a user gets, as Conditional Access lets it fail.
struct ClaimsChallenge: Sendable, Equatable {
    enum Reason: String, CaseIterable {
        case accessBlocked = "53003"
        case multifactorNeeded = "50076"
    }

    var reason: Reason
    var suberror: String
    /// What the client passes on as `claims` when it asks the person.
    var claims: String
}

extension Fault {
    /// A field that is too long for the memory that a server has for the head of a response.
    private static let endless: FieldLines = ["X-Cut": String(repeating: "-", count: 1 << 16)]

    /// Waits, then answers in place of the endpoint, or makes the server close the connection.
    ///
    /// A handler cannot close its connection. But the server closes a connection whose response it cannot send.
    ///
    /// Pages may read the answer if they may read that of the endpoint, whose fields for browsers are in `context`.
    func apply(_ context: RequestContext, to decide: @Sendable () async -> Decision) async -> Decision {
        if delayMilliseconds > 0 { try? await Task.sleep(for: .milliseconds(delayMilliseconds)) }
        let decision = if let status { Decision.respond(response(Int(status), context)) } else { await decide() }
        guard cut else { return decision }
        return decision.map { Response($0.status, headers: Self.endless) }
    }

    private func response(_ status: Int, _ context: RequestContext) -> Response {
        let isPublic = [.keys, .metadata].contains(endpoint)
        var headers: FieldLines = ["Content-Type": body.hasPrefix("{") ? "application/json" : "text/html"]
        headers.append(isPublic ? ["Access-Control-Allow-Origin": "*"] : context.headers)
        if let retryAfter {
            headers.append("Retry-After", String(retryAfter))
            headers.append("Access-Control-Expose-Headers", "Retry-After")
        }
        return Response(Status(rawValue: status), headers: headers, body: Array(body.utf8))
    }
}

extension [Fault] {
    /// The first fault at this endpoint; one request of it is used up.
    mutating func take(_ endpoint: Fault.Endpoint) -> Fault? {
        guard let index = firstIndex(where: { $0.endpoint == endpoint }) else { return nil }
        self[index].times -= 1
        let fault = self[index]
        if fault.times <= 0 { remove(at: index) }
        return fault
    }
}
