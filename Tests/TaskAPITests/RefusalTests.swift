import HTTP
import Support
import TaskAPI
import Testing

@Suite("Refusals")
struct RefusalTests {
    /// In every place of a request that a client chooses freely; no text of the server has it.
    private static let marker = "zqxjkvbq"

    private struct Refused {
        let status: Status
        let method: String
        let target: String
        var token: String? = "alice"
        var fields: [(String, String)] = []
        var body = ""
    }

    private static let requests: [Refused] = [
        Refused(status: 401, method: "GET", target: "/api/tasks/7", token: nil),
        Refused(status: 401, method: "GET", target: "/api/tasks/7", token: marker),
        Refused(status: 400, method: "GET", target: "/api/tasks/7", token: "\(marker),"),
        Refused(status: 401, method: "GET", target: "/api/\(marker)", token: nil),
        Refused(status: 401, method: "GET", target: "/api/me?access_token=\(marker)", token: nil),
        Refused(status: 400, method: "GET", target: "/api/me?access_token=\(marker)", token: "alice"),
        Refused(status: 404, method: "GET", target: "/api/\(marker)"),
        Refused(status: 404, method: "GET", target: "/\(marker)", token: nil),
        Refused(status: 405, method: "PUT", target: "/api/tasks/\(marker)"),
        Refused(status: 405, method: "PUT", target: "/api/tasks/\(marker)/\(marker)"),
        Refused(status: 400, method: "GET", target: "/api/tasks?limit=\(marker)"),
        Refused(status: 404, method: "PATCH", target: "/api/tasks/7", fields: [json], body: #"{"task":"\#(marker)"}"#),
        Refused(status: 400, method: "POST", target: "/api/tasks", fields: [json], body: #"{"\#(marker)""#),
        Refused(status: 409, method: "POST", target: "/api/tasks", fields: [json], body: #"{"\#(marker)":1}"#),
        Refused(
            status: 400, method: "POST", target: "/api/tasks", fields: [json],
            body: #"{"task":"\#(marker)","completed":"\#(marker)\u0000","date":"\#(marker)\u0000"}"#),
        Refused(
            status: 400, method: "PATCH", target: "/api/tasks/7", fields: [json], body: #"{"completed":"\#(marker)"}"#),
        Refused(
            status: 400, method: "PATCH", target: "/api/tasks", fields: [json],
            body: #"[{"id":7,"task":"\#(marker)","ifMatch":["\#(marker)"]}]"#),
        Refused(
            status: 400, method: "PATCH", target: "/api/tasks", fields: [json],
            body: #"[{"id":7,"\#(marker)":"\#(marker)"#),
        Refused(
            status: 412, method: "PATCH", target: "/api/tasks/7", fields: [json, ("If-Match", marker)],
            body: #"{"task":"\#(marker)"}"#),
        Refused(
            status: 415, method: "POST", target: "/api/tasks", fields: [("Content-Type", "text/\(marker)")],
            body: marker),
        Refused(
            status: 400, method: "POST", target: "/api/tasks",
            fields: [("Content-Type", "multipart/form-data; boundary=\(marker)")], body: "--\(marker)\r\n\(marker)"),
        Refused(
            status: 400, method: "POST", target: "/api/tasks", fields: [json, ("Idempotency-Key", " \(marker)\u{1}")],
            body: #"{"task":"\#(marker)"}"#),
    ]

    /// Fields that say where a request comes from and how to find it again.
    private static let everywhere = [
        "Origin", "Referer", "User-Agent", "Cookie", "X-Request-Id", "X-Forwarded-For", "X-Forwarded-Host", "Forwarded",
        "traceparent", "client-request-id", "If-None-Match", "X-\(marker)",
    ].map { ($0, "\"\(marker)\"") }

    @Test(
        "No byte of a path, a query, a field, a token or a body is in the refusal (V-117)",
        arguments: Transport.allCases,
        ["text/plain", "application/json"])
    func markers(transport: Transport, accept: String) async throws {
        let api = TestedAPI(transport) { $0.origins = .only(["https://app.example"]) }
        for request in Self.requests {
            // A control byte in a field is refused by the server, before the API sees it.
            if transport == .socket, request.fields.contains(where: { $0.1.contains("\u{1}") }) { continue }
            // A page of another origin gets JSON, whatever it asks for.
            let everywhere = Self.everywhere.filter { $0.0 != "Origin" || accept == "application/json" }
            let fields = request.fields + everywhere + [("Accept", accept)]
            let answer = try await api.send(request.method, request.target, as: request.token, fields, request.body)
            let name = "\(request.method) \(request.target) \(request.body)"
            #expect(answer.status == request.status, "\(name): \(answer.text)")
            #expect(answer.headers["Content-Type"]?.contains("json") == (accept == "application/json"), "\(name)")
            #expect(!answer.text.lowercased().contains(Self.marker), "\(name): \(answer.text)")
            let lines = String(decoding: answer.headers.bytes, as: UTF8.self)
            #expect(!lines.lowercased().contains(Self.marker), "\(name): \(lines)")
        }
    }
}
