import HTTP
import TaskAPI
import Testing

@Suite("What a path means")
struct RouteTests {
    @Test(
        "every address that a sample client was configured with means the same",
        arguments: [
            ("/api/tasks", Route.tasks), ("//api/tasks/", .tasks), ("/tasks", .tasks), ("/tasks:3000", .tasks),
            ("/todoserver/tasks", .tasks), ("/todoserver/api/tasks/", .tasks), ("/api/tasks/7", .task(7)),
            ("//api/tasks/7", .task(7)), ("/tasks/7", .task(7)), ("/api/tasks/99999999999999999999", .task(nil)),
            ("/api/tasks/hellojs", .tasksOfNamedOwner), ("/api/tasks/-7", .task(nil)), ("/api/tasks/-0", .task(nil)),
            ("/api/tasks/+7", .task(nil)), ("/api/tasks/%2B7", .task(nil)), ("/api/tasks/0", .task(0)),
            ("/api/tasks/007", .task(7)), ("/api/tasks/9223372036854775807", .task(.max)),
            ("/api/tasks/9223372036854775808", .task(nil)), ("/api/tasks/-9223372036854775808", .task(nil)),
            ("/api/tasks/18446744073709551617", .task(nil)),
            ("/api/tasks/1\(String(repeating: "0", count: 4000))", .task(nil)),
            ("/api/tasks/1.0", .tasksOfNamedOwner), ("/api/tasks/1e3", .tasksOfNamedOwner),
            ("/api/tasks/0x7", .tasksOfNamedOwner), ("/api/tasks/-", .tasksOfNamedOwner),
            ("/api/tasks/+", .tasksOfNamedOwner), ("/api/tasks/--7", .tasksOfNamedOwner),
            ("/api/tasks/7%20", .tasksOfNamedOwner), ("/api/tasks/%D9%A7", .tasksOfNamedOwner),
            ("/tasks/bob/Buy%20milk", .taskByText("Buy milk")), ("/api/tasks/bob/7", .taskByText("7")),
        ])
    func addresses(target: String, route: Route) throws {
        #expect(try Route(path: RequestTarget(parsing: target, host: nil).path) == route)
    }

    @Test(
        "everything else below /api is hidden, the rest is a file",
        arguments: [
            ("/api", Route.unknownBelowAPI), ("/api/", .unknownBelowAPI), ("/api/nothing", .unknownBelowAPI),
            ("/api/me/too", .unknownBelowAPI), ("/api/tasks/a/b/c", .unknownBelowAPI), ("/api/me", .me),
            ("/", .file("index.html")), ("/problems.html", .file("problems.html")), ("/tasksx", .file("tasksx")),
            ("/tasks:x", .file("tasks:x")), ("/tasks:", .file("tasks:")), ("/API/tasks", .file("API/tasks")),
            ("/healthz", .health), ("/readyz", .readiness), ("/config.json", .pageConfiguration),
            ("/.well-known/oauth-protected-resource", .protectedResource),
        ])
    func others(target: String, route: Route) throws {
        #expect(try Route(path: RequestTarget(parsing: target, host: nil).path) == route)
    }
}
