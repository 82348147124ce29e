import HTTP

/// What operators may ask on their own listener: metrics and health.
struct OperatorPages: RequestHandler {
    private let readiness: Readiness
    private let metrics: MetricsPage

    init(_ readiness: Readiness, _ metrics: MetricsPage) {
        self.readiness = readiness
        self.metrics = metrics
    }

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
