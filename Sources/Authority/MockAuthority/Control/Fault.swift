internal import HTTP
internal import Synchronization

/// Something that goes wrong at an endpoint for some requests.
struct Fault: Sendable, Equatable {
    /// Where.
    enum Place: String, Sendable, CaseIterable {
        case keys, metadata, token, authorize
    }

    var place: Place
    /// For how many requests yet.
    var times: Int64
    /// Waited before anything else.
    var delayMilliseconds: Int64
    /// What is answered instead; nothing if the endpoint answers after all.
    var answer: Answer?
    /// Whether the connection breaks in the middle of the body, which was announced whole.
    var cut: Bool

    /// An answer that is not the endpoint's.
    struct Answer: Sendable, Equatable {
        var status: Int
        var retryAfter: Int64?
        var body: String
    }
}

extension Fault {
    /// Lets time pass, then answers instead of the endpoint or spoils what it answers.
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
        var headers: HeaderFields = ["Content-Type": body.hasPrefix("{") ? "application/json" : "text/html"]
        if let retryAfter { headers.append("Retry-After", String(retryAfter)) }
        return Response(Status(rawValue: status), headers: headers, body: Array(body.utf8))
    }
}

/// The faults of a run that are still to come.
final class Faults: Sendable {
    private let waiting = Mutex<[Fault]>([])

    var all: [Fault] { waiting.withLock { $0 } }

    func add(_ fault: Fault) {
        waiting.withLock { $0.append(fault) }
    }

    /// The first fault of this place, used up once.
    func take(_ place: Fault.Place) -> Fault? {
        waiting.withLock { waiting in
            guard let index = waiting.firstIndex(where: { $0.place == place }) else { return nil }
            waiting[index].times -= 1
            let fault = waiting[index]
            if fault.times <= 0 { waiting.remove(at: index) }
            return fault
        }
    }
}

extension PolicyURL.Endpoint {
    /// Under which name faults find it.
    var place: Fault.Place? {
        switch self {
        case .metadata: .metadata
        case .keys: .keys
        case .token: .token
        case .authorize: .authorize
        case .logout, .userInfo, .page, .selfAsserted, .confirmed: nil
        }
    }
}
