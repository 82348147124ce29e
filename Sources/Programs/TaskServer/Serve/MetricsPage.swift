import Basics
import HTTP
import HTTPServer
import IssuerKeys
import Platform
import Synchronization
import TaskAPI
import Tasks

/// `/metrics`: everything that the parts count (V-165).
final class MetricsPage: Sendable {
    /// Weak: the listeners hold this page, so a strong reference would be a cycle.
    private struct Watched { weak var listeners: Listeners? }

    private let observation: Observation
    private let store: OpenStore
    private let verifier: BearerVerifier
    private let readiness: Readiness
    private let answers: AnswerMemory
    private let streams: ChangeStreams
    private let watched = Mutex(Watched())

    init(
        _ observation: Observation, _ store: OpenStore, _ verifier: BearerVerifier, _ readiness: Readiness,
        _ answers: AnswerMemory, _ streams: ChangeStreams
    ) {
        self.observation = observation
        self.store = store
        self.verifier = verifier
        self.readiness = readiness
        self.answers = answers
        self.streams = streams
    }

    /// Adds the connections, which exist after this page.
    func watch(_ listeners: Listeners) {
        watched.withLock { $0.listeners = listeners }
    }

    /// The lines about the keys of each source on `/readyz`, for operators only (P-18).
    var keyState: String {
        verifier.statuses.map { source in
            let status = source.keys
            let name = source.name.map { "source \($0): " } ?? ""
            let end = source.isClosed ? ", closed" : ""
            let age = status.ageSeconds.map { ", \($0) s old" } ?? ""
            // The failure may quote the provider, and key identifiers are its own (V-131).
            let failure = source.name == nil ? "" : status.lastFailure.map { ", \($0.printable())" } ?? ""
            let identifiers = status.keyIdentifiers.map { "kid \($0.printable(64))\n" }.joined()
            return "\(name)keys \(status.state.rawValue)\(age)\(end)\(failure)\n\(identifiers)"
        }.joined()
    }

    var text: String {
        var text = PrometheusText()
        text.family("tasks_version", .gauge, "1, with the version of the program.")
        text.sample("tasks_version", [("version", programVersion)], 1)
        text.single("tasks_ready", .gauge, "1 if requests can be answered, as /readyz says.", readiness.isReady ? 1 : 0)
        observation.requests.render(into: &text)
        let failed = observation.failedPrunings.load(ordering: .relaxed)
        text.single("tasks_store_failed_prunings_total", .counter, "Failures to forget what is too old.", failed)
        text.family("tasks_http_faults_total", .counter, "Requests refused before the API, by the code of the problem.")
        for (code, count) in observation.faults.sorted {
            text.sample("tasks_http_faults_total", [("code", code)], count)
        }
        if let listeners = watched.withLock({ $0.listeners }) {
            if let end = listeners.certificateEnd {
                text.single(
                    "tasks_certificate_expiry_timestamp_seconds", .gauge,
                    "When the server's certificate ends.", Int(end))
            }
            if let statistics = listeners.statistics { Self.connections(statistics, &text) }
        }
        let streams = streams.statistics
        text.single("tasks_streams_open", .gauge, "Streams of changes open now.", streams.open)
        text.single("tasks_stream_events_total", .counter, "Changes sent to streams.", streams.events)
        KeyMetrics(verifier.statuses).render(into: &text)
        text.single(
            "tasks_token_verification_duration_seconds", "Time of a check of a token's signature and claims.",
            verifier.verificationTimes)
        Self.tokenCache(verifier.tokenCacheStatus, &text)
        Self.answers(answers, &text)
        Self.store(store.statistics(), &text)
        Self.store(store.times, &text)
        text.single(
            "tasks_log_lines_dropped_total", .counter, "Log lines dropped because the reader was slow.",
            observation.log.dropped)
        text.single("process_resident_memory_bytes", .gauge, "Memory in use.", ProcessFacts.residentBytes)
        text.single("process_cpu_seconds_total", .counter, "Processor time used.", ProcessFacts.processorSeconds)
        return text.text
    }

    private static func connections(_ state: ServerStatistics, _ text: inout PrometheusText) {
        text.single("tasks_connections_open", .gauge, "Connections open now.", state.connections)
        text.single(
            "tasks_connections_total", .counter, "Connections accepted since the start.", state.connectionsOpened)
        text.single(
            "tasks_connections_refused_total", .counter, "Connections refused because their address had too many.",
            state.connectionsRefused)
        text.single(
            "tasks_connections_vanished_total", .counter, "Connections closed because the peer had disconnected.",
            state.connectionsDisconnected)
        text.single("tasks_requests_waiting", .gauge, "Requests that wait for an answer.", state.suspended)
        text.family("tasks_connections_cut_total", .counter, "Connections ended by a deadline.")
        for deadline in Deadline.allCases {
            text.sample(
                "tasks_connections_cut_total", [("deadline", deadline.rawValue)], state.deadlines[deadline] ?? 0)
        }
    }

    private static func tokenCache(_ status: TokenCacheStatus, _ text: inout PrometheusText) {
        text.family("tasks_token_cache_lookups_total", .counter, "Look-ups of verified tokens.")
        text.sample("tasks_token_cache_lookups_total", [("outcome", "hit")], status.hits)
        text.sample("tasks_token_cache_lookups_total", [("outcome", "miss")], status.misses)
        text.single("tasks_token_cache_evictions_total", .counter, "Tokens evicted to make room.", status.evictions)
        text.single("tasks_token_cache_entries", .gauge, "Tokens cached now.", status.entries)
        text.single("tasks_token_cache_bytes", .gauge, "Memory of the cached tokens.", status.bytes)
    }

    private static func answers(_ memory: AnswerMemory, _ text: inout PrometheusText) {
        let statistics = memory.statistics
        text.single("tasks_answer_bytes", .gauge, "Memory of long lists that are rendered or sent.", statistics.held)
        text.single("tasks_answer_bytes_limit", .gauge, "The limit of that memory.", memory.limit)
        text.single("tasks_answers_refused_total", .counter, "Lists refused for lack of it.", statistics.refused)
    }

    private static func store(_ times: StoreTimes, _ text: inout PrometheusText) {
        text.single("tasks_store_wait_duration_seconds", "Time that reads and writes wait.", times.waits)
        text.single("tasks_store_commit_duration_seconds", "Time of committed transactions.", times.commits)
    }

    private static func store(_ state: StoreStatistics, _ text: inout PrometheusText) {
        text.single("tasks_store_waiting_writes", .gauge, "Writes that wait.", state.waitingWrites)
        text.single("tasks_store_waiting_reads", .gauge, "Reads that wait.", state.waitingReads)
        text.family("tasks_store_commits_total", .counter, "Transactions.")
        text.sample("tasks_store_commits_total", [("outcome", "ok")], state.commits)
        text.sample("tasks_store_commits_total", [("outcome", "failed")], state.failedCommits)
        text.single("tasks_store_writes_total", .counter, "Writes answered after a commit.", state.writes)
        text.single("tasks_store_refused_total", .counter, "Calls refused while too many waited.", state.refused)
        text.family("tasks_store_lists_total", .counter, "Lists that were read, by source.")
        text.sample("tasks_store_lists_total", [("source", "memory")], state.listHits)
        text.sample("tasks_store_lists_total", [("source", "disk")], state.listMisses)
        text.single("tasks_store_list_evictions_total", .counter, "Lists evicted to make room.", state.listEvictions)
        text.single("tasks_store_list_entries", .gauge, "Lists in memory.", state.lists)
        text.single("tasks_store_list_bytes", .gauge, "Memory of these lists.", state.listBytes)
    }
}

/// The metrics of the keys, a sample for each token source (V-165, P-18).
///
/// A source without a name has no label, so a server with one provider keeps the series that it had before names.
struct KeyMetrics {
    private let sources: [(labels: [(name: String, value: String)], status: KeyStatus)]

    init(_ statuses: [TokenSourceStatus]) {
        sources = statuses.map { ($0.name.map { [("source", $0)] } ?? [], $0.keys) }
    }

    func render(into text: inout PrometheusText) {
        text.family("tasks_keys_state", .gauge, "1 for the state that the authority's keys are in.")
        for (labels, status) in sources {
            for state in KeyState.allCases {
                let value = status.state == state ? 1 : 0
                text.sample("tasks_keys_state", labels + [("state", state.rawValue)], value)
            }
        }
        each("tasks_keys", .gauge, "Keys that tokens are verified with.", &text) { $0.keyIdentifiers.count }
        each("tasks_keys_age_seconds", .gauge, "Age of the oldest key.", &text) { $0.ageSeconds ?? -1 }
        each("tasks_keys_degraded", .gauge, "1 if the last fetch failed.", &text) { $0.isDegraded ? 1 : 0 }
        text.family("tasks_key_loads_total", .counter, "Loads of a policy's keys.")
        for (labels, status) in sources {
            text.sample("tasks_key_loads_total", labels + [("outcome", "ok")], status.counters.loads)
            text.sample("tasks_key_loads_total", labels + [("outcome", "failed")], status.counters.failures)
        }
        each("tasks_key_fetches_total", .counter, "Fetches from the authority.", &text) { $0.counters.refreshes }
        each("tasks_key_fetch_seconds_total", .counter, "Time that the fetches took.", &text) {
            Double($0.counters.refreshNanoseconds) / 1e9
        }
        each("tasks_unknown_keys_total", .counter, "Tokens with an unknown key.", &text) { $0.counters.unknownKeys }
        each("tasks_key_waiters", .gauge, "Requests that wait for a fetch.", &text) { $0.waiters }
    }

    private func each(
        _ name: String, _ kind: PrometheusText.Kind, _ help: String, _ text: inout PrometheusText,
        _ value: (KeyStatus) -> some CustomStringConvertible
    ) {
        text.family(name, kind, help)
        for (labels, status) in sources { text.sample(name, labels, value(status)) }
    }
}

/// What operators may ask on their own listener: metrics and health.
struct OperatorPages: RequestHandler {
    let readiness: Readiness
    let metrics: MetricsPage

    func decide(on head: RequestHead) -> Decision {
        guard head.method == .get || head.method == .head else {
            return .respond(Response(405, headers: ["Allow": "GET, HEAD"], text: "Only GET and HEAD are allowed.\n"))
        }
        switch head.target.path {
        case ["metrics"]:
            return .respond(
                Response(
                    200, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"],
                    body: Array(metrics.text.utf8)))
        case ["healthz"]: return .respond(Response(200, text: "alive\n"))
        case ["readyz"]:
            return .later {
                let reason = await readiness.reason()
                let state = metrics.keyState
                guard let reason else { return .respond(Response(200, text: "ready\n\(state)")) }
                return .respond(Response(503, headers: ["Retry-After": "5"], text: "not ready: \(reason)\n\(state)"))
            }
        default:
            return .respond(Response(404, text: "Not found; try /metrics, /healthz or /readyz.\n"))
        }
    }
}
