import Basics
import HTTP
import Synchronization
import TaskAPI
import Tokens

/// The metrics of requests; counting a request without a problem takes no lock.
final class RequestMetrics: Sendable {
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"]
    /// How many statuses are counted: those from 100 to 599.
    private static let statuses = 500

    /// By method, then by status.
    private let requests = InlineArray<4000, Atomic<Int>> { _ in Atomic(0) }
    private let reading = DurationHistogram()
    private let writing = DurationHistogram()
    private let sent = Atomic<Int>(0)
    // An alert on a counter sees only its growth, so the series of the shipped alerts exist from the start.
    private let problems = CounterByName(["store.full"])
    private let refusals = CounterByName(TokenRefusal.all.map(\.code))
    private static let statusesOfAlerts = [500, 503, 507]

    func count(_ record: RequestRecord) {
        let column = min(max(record.status.rawValue - 100, 0), Self.statuses - 1)
        requests[Self.index(of: record.method) * Self.statuses + column].add(1, ordering: .relaxed)
        histogram(for: record.method).add(record.duration)
        sent.add(record.bytes, ordering: .relaxed)
        if let problem = record.problem { problems.add(problem) }
        if let refusal = record.refusal { refusals.add(refusal.code) }
    }

    func render(into text: inout PrometheusText) {
        text.family("tasks_http_requests_total", .counter, "Requests answered, by method and status.")
        for (row, method) in Self.methods.enumerated() {
            for column in 0..<Self.statuses {
                let count = requests[row * Self.statuses + column].load(ordering: .relaxed)
                guard count > 0 || Self.statusesOfAlerts.contains(100 + column) else { continue }
                text.sample("tasks_http_requests_total", [("method", method), ("status", "\(100 + column)")], count)
            }
        }
        let duration = "tasks_http_request_duration_seconds"
        text.family(duration, .histogram, "From the head being in to the answer being ready.")
        text.histogram(duration, [("class", "read")], reading)
        text.histogram(duration, [("class", "write")], writing)
        text.single(
            "tasks_http_response_bytes_total", .counter, "Bytes of answers, without heads.",
            sent.load(ordering: .relaxed))
        text.family("tasks_problems_total", .counter, "Requests refused, by the code of the problem.")
        for (code, count) in problems.sorted { text.sample("tasks_problems_total", [("code", code)], count) }
        text.family("tasks_token_refusals_total", .counter, "Tokens refused, by the rule that they broke.")
        for (code, count) in refusals.sorted { text.sample("tasks_token_refusals_total", [("reason", code)], count) }
    }

    private func histogram(for method: Method) -> DurationHistogram {
        switch method {
        case .get, .head, .options: reading
        case .post, .put, .patch, .delete, .other: writing
        }
    }

    private static func index(of method: Method) -> Int {
        switch method {
        case .get: 0
        case .head: 1
        case .post: 2
        case .put: 3
        case .patch: 4
        case .delete: 5
        case .options: 6
        case .other: 7
        }
    }
}

/// Counts rare events by name; each count takes a lock.
final class CounterByName: Sendable {
    /// The most names, in case a name ever comes from elsewhere: the program has fewer.
    private static let most = 200
    private let counts: Mutex<[String: Int]>

    /// Creates counters of 0 of these names; others come with their first event.
    init(_ names: [String] = []) {
        counts = Mutex(Dictionary(names.map { ($0, 0) }) { first, _ in first })
    }

    func add(_ name: String) {
        counts.withLock { counts in
            let name = counts.count < Self.most || counts[name] != nil ? name : "other"
            counts[name, default: 0] += 1
        }
    }

    var sorted: [(name: String, count: Int)] {
        counts.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
