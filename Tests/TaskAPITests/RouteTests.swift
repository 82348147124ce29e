import HTTP
import TaskAPI
import Testing

@Suite("The route of a path")
struct RouteTests {
    private func match(_ target: String) throws -> RouteMatch {
        TestedAPI(.inProcess).api.routes.match(try RequestTarget(parsing: target, host: nil))
    }

    @Test(arguments: [
        ("/api/tasks", Route.tasks), ("//api/tasks/", .tasks), ("/tasks", .tasks), ("/tasks:3000", .tasks),
        ("/todoserver/tasks", .tasks), ("/todoserver/api/tasks/", .tasks),
        ("/api/tasks/hellojs", .tasksOfNamedOwner),
        ("/api/tasks/1.0", .tasksOfNamedOwner), ("/api/tasks/1e3", .tasksOfNamedOwner),
        ("/api/tasks/0x7", .tasksOfNamedOwner), ("/api/tasks/-", .tasksOfNamedOwner),
        ("/api/tasks/+", .tasksOfNamedOwner), ("/api/tasks/--7", .tasksOfNamedOwner),
        ("/api/tasks/7%20", .tasksOfNamedOwner), ("/api/tasks/%D9%A7", .tasksOfNamedOwner),
    ])
    func `Every address that a sample client was configured with means the same`(target: String, route: Route) throws {
        #expect(try match(target).route == route)
    }

    @Test(arguments: [
        ("/api/tasks/7", Optional<Int64>(7)), ("//api/tasks/7", 7), ("/tasks/7", 7), ("/tasks:3000/7", 7),
        ("/api/tasks/0", 0), ("/api/tasks/007", 7), ("/api/tasks/9223372036854775807", .max),
        ("/api/tasks/99999999999999999999", nil), ("/api/tasks/-7", nil), ("/api/tasks/-0", nil),
        ("/api/tasks/+7", nil), ("/api/tasks/%2B7", nil), ("/api/tasks/9223372036854775808", nil),
        ("/api/tasks/-9223372036854775808", nil), ("/api/tasks/18446744073709551617", nil),
        ("/api/tasks/1\(String(repeating: "0", count: 4000))", nil),
    ])
    func `An integer is the id of a task, or of none`(target: String, identifier: Int64?) throws {
        let match = try match(target)
        #expect(match.route == .task)
        #expect(match.taskIdentifier == identifier)
    }

    @Test(arguments: [("/tasks/bob/Buy%20milk", "Buy milk"), ("/api/tasks/bob/7", "7")])
    func `Two segments are an owner and a text`(target: String, text: String) throws {
        let match = try match(target)
        #expect(match.route == .taskByText)
        #expect(match["text"] == text && match["owner"] == "bob" && match["none"].isEmpty)
    }

    @Test(arguments: [
        ("/api", Route.unknownBelowAPI), ("/api/", .unknownBelowAPI), ("/api/nothing", .unknownBelowAPI),
        ("/api/me/too", .unknownBelowAPI), ("/api/tasks/a/b/c", .unknownBelowAPI),
        ("/tasks/a/b/c", .unknownBelowAPI), ("/api/me", .me), ("/healthz", .health), ("/readyz", .readiness),
        ("/config.json", .pageConfiguration), ("/.well-known/oauth-protected-resource", .protectedResource),
        ("/.well-known/oauth-protected-resource/api/tasks", .protectedResourceByPath),
    ])
    func `Everything else below /api is hidden`(target: String, route: Route) throws {
        #expect(try match(target).route == route)
    }

    @Test(arguments: [
        ("/", ""), ("/problems.html", "problems.html"), ("/a/b.js", "a/b.js"), ("/tasksx", "tasksx"),
        ("/tasks:x", "tasks:x"), ("/tasks:", "tasks:"), ("/API/tasks", "API/tasks"), ("/healthz/x", "healthz/x"),
    ])
    func `Every other path is a file`(target: String, file: String) throws {
        let match = try match(target)
        #expect(match.route == .file)
        #expect(match["file"] == file)
    }
}
