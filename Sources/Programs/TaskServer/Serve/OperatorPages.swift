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
            return .respond(Self.text(405, "Only GET and HEAD are allowed.\n", ["Allow": "GET, HEAD"]))
        }
        switch head.target.path {
        case ["metrics"]:
            return .respond(
                Response(
                    200, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"],
                    body: Array(metrics.text.utf8)))
        case ["healthz"]: return .respond(Self.text(200, "alive\n"))
        case ["readyz"]:
            return .later {
                let reason = await readiness.reason()
                let state = metrics.keyState
                guard let reason else { return .respond(Self.text(200, "ready\n\(state)")) }
                return .respond(Self.text(503, "not ready: \(reason)\n\(state)", ["Retry-After": "5"]))
            }
        default:
            return .respond(Self.text(404, "Not found; try /metrics, /healthz or /readyz.\n"))
        }
    }

    private static func text(_ status: Status, _ text: String, _ headers: FieldLines = FieldLines()) -> Response {
        var response = Response(status, headers: headers, body: Array(text.utf8))
        response.headers.append("Content-Type", "text/plain; charset=utf-8")
        response.headers.append("Cache-Control", "no-store")
        return response
    }
}
