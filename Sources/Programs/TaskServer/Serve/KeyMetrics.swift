import IssuerKeys

/// The metrics of the keys, a sample for each token source (V-165, P-18).
///
/// The source without name has no label, so a server with one provider has the series that it had before there were names.
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
