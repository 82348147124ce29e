import HTTP
import Synchronization

/// A failure that is injected at an endpoint for some requests.
struct Fault: Sendable, Equatable {
    /// The endpoint, as `at` of the control names it.
    enum Endpoint: String, Sendable, CaseIterable {
        case keys, metadata, token, authorize
    }

    var endpoint: Endpoint
    /// The number of requests that it still affects.
    var times: Int64
    /// The time before the response.
    var delayMilliseconds: Int64
    /// The response in place of the endpoint's; `nil` if the endpoint answers.
    var answer: Answer?
    /// Whether the connection ends in the middle of the body, whose full length was announced.
    var cut: Bool

    struct Answer: Sendable, Equatable {
        var status: Int
        var retryAfter: Int64?
        var body: String
    }
}

extension Fault {
    /// Waits, then answers in place of the endpoint or cuts its response.
    func apply(to decide: @Sendable () async -> Decision) async -> Decision {
        if delayMilliseconds > 0 { try? await Task.sleep(for: .milliseconds(delayMilliseconds)) }
        let cut = cut
        let decision = if let answer { Decision.respond(answer.response) } else { await decide() }
        return decision.map { response in
            var response = response
            if cut {
                response.missing = response.body.count - response.body.count / 2
                response.body.removeLast(response.missing)
            }
            return response
        }
    }
}

extension Fault.Answer {
    fileprivate var response: Response {
        var headers: FieldLines = ["Content-Type": body.hasPrefix("{") ? "application/json" : "text/html"]
        if let retryAfter { headers.append("Retry-After", String(retryAfter)) }
        return Response(Status(rawValue: status), headers: headers, body: Array(body.utf8))
    }
}

/// The faults of a test run that still affect requests.
final class Faults: Sendable {
    private let waiting = Mutex<[Fault]>([])

    var all: [Fault] { waiting.withLock { $0 } }

    func add(_ fault: Fault) {
        waiting.withLock { $0.append(fault) }
    }

    /// The first fault at this endpoint; one request of it is used up.
    func take(_ endpoint: Fault.Endpoint) -> Fault? {
        waiting.withLock { waiting in
            guard let index = waiting.firstIndex(where: { $0.endpoint == endpoint }) else { return nil }
            waiting[index].times -= 1
            let fault = waiting[index]
            if fault.times <= 0 { waiting.remove(at: index) }
            return fault
        }
    }
}
