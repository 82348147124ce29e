import HTTP
import TaskAPI
import Testing
import Tokens

/// What holds for every row of the table of routes, so also for the next one.
@Suite("Every route of the table")
struct EveryRouteTests {
    private static let methods: [Method] = [.get, .head, .post, .put, .patch, .delete]

    /// The API, with a file and with scopes, so that tokens lead to every status.
    private func api(_ transport: Transport) -> TestedAPI {
        TestedAPI(transport) {
            $0.files = ["x": PublicFile(name: "x", bytes: Array("a file".utf8))]
            $0.publicAddress = "https://tasks.example.com"
            $0.verifier = NameVerifier(required: RequiredScopes(read: "tasks.read", write: "tasks.write"))
        }
    }

    /// A target for each row, which no earlier row takes.
    private func examples(_ table: RouteTable) throws -> [(target: String, definition: RouteDefinition)] {
        try table.rows.map { route, definition in
            let segments = definition.pattern.split(separator: "/").map { segment in
                segment == "{id}" ? "7" : segment.hasPrefix("{") || segment == "?" ? "x" : String(segment)
            }
            let target = "/" + segments.joined(separator: "/")
            let match = table.match(try RequestTarget(parsing: target, host: nil))
            #expect(match.route == route, "\(target) is no example of \(definition.pattern)")
            return (target, definition)
        }
    }

    @Test(
        "A route needs a token on every method, unless it is one of the public ones (V-09)",
        arguments: Transport.allCases)
    func tokens(transport: Transport) async throws {
        let api = api(transport)
        let isPublic = Set(api.api.routes.rows.map(\.definition).filter { !$0.isProtected }.map(\.pattern))
        #expect(
            isPublic == [
                "/healthz", "/readyz", "/config.json", "/.well-known/oauth-protected-resource",
                "/.well-known/oauth-protected-resource/{resource}", "/{file}",
            ])
        for (target, definition) in try examples(api.api.routes) {
            for method in Self.methods {
                let answer = try await api.send(method.name, target)
                #expect((answer.status == 401) == definition.isProtected, "\(method.name) \(target): \(answer.status)")
                guard definition.isProtected else { continue }
                let metadata = "https://tasks.example.com/.well-known/oauth-protected-resource/api/tasks"
                #expect(
                    answer.headers["WWW-Authenticate"]
                        == "Bearer realm=\"tasks\", resource_metadata=\"\(metadata)\"", "\(method.name) \(target)")
            }
        }
    }

    @Test(
        "No answer may be taken for another type or names the server, and a cache keeps none of a protected route (V-119, V-152)",
        arguments: Transport.allCases)
    func fields(transport: Transport) async throws {
        let api = api(transport)
        var statuses: Set<Status> = []
        for (target, definition) in try examples(api.api.routes) {
            for method in Self.methods + [.options] {
                // No token, tokens that are accepted, and tokens that are refused for each reason.
                for token in [nil, "alice", "alice-read", "outdated", "forged", "not,a,token", "unverifiable"] {
                    let answer = try await api.send(method.name, target, as: token)
                    let request = Comment("\(method.name) \(target) \(token ?? "without a token")")
                    #expect(answer.headers.values("X-Content-Type-Options") == ["nosniff"], request)
                    #expect(answer.headers["Server"] == nil && answer.headers["X-Powered-By"] == nil, request)
                    guard definition.isProtected else { continue }
                    statuses.insert(answer.status)
                    #expect(answer.headers.values("Cache-Control") == ["private, no-store"], request)
                    #expect(answer.headers.values("Vary") == ["Authorization, Accept, Accept-Encoding"], request)
                }
            }
        }
        #expect(statuses.isSuperset(of: [200, 204, 400, 401, 403, 404, 405, 503]), "\(statuses)")
    }

    @Test(
        "Every answer says that it depends on the origin, also to a request without one, if only some origins may read",
        arguments: [CrossOrigin.any, .only([]), .only(["https://app.example", "https://b.example"])],
        [nil, "https://app.example"])
    func origins(allowed: CrossOrigin, origin: String?) async throws {
        let api = TestedAPI(.inProcess) {
            $0.files = ["x": PublicFile(name: "x", bytes: Array("a file".utf8))]
            $0.origins = allowed
        }
        let expected = allowed == .any || allowed == .only([]) ? [] : ["Origin"]
        for (target, _) in try examples(api.api.routes) {
            for method in Self.methods + [.options] {
                for token in [nil, "alice"] {
                    let fields = origin.map { [("Origin", $0), ("Access-Control-Request-Method", "PUT")] } ?? []
                    let answer = try await api.send(method.name, target, as: token, fields)
                    let values = answer.headers.values("Vary").filter { $0 == "Origin" }
                    #expect(values == expected, "\(method.name) \(target)")
                }
            }
        }
    }

    @Test func `A refusal before the origin was read names the one origin that may read, and none of several`() {
        let origins = ["https://a.example", "https://b.example"]
        for count in 1...2 {
            var headers = FieldLines()
            CrossOrigin.only(Array(origins.prefix(count))).allow(refused: nil, in: &headers)
            #expect(headers["Access-Control-Allow-Origin"] == (count == 1 ? origins[0] : nil))
            #expect(headers.values("Vary") == ["Origin"])
        }
    }
}
