import HTTP

/// The routes of the API: one table of patterns, methods, scopes and handlers.
///
/// Everything else is read from ``definition(_:_:)``: how a path is matched, the pattern that a log shows in place of the path,
/// `Allow`, 405, the methods of a preflight, whether a token is required, and whether a body is read. The first route
/// that matches is taken. `Tests/TaskAPITests/ContractTests.swift` compares the table with `Public/openapi.yaml`,
/// which leaves out what only the clients of `docs/clients.md` use.
///
/// A new route is a case, its row, and a handler; each demands the next, or the package does not compile. Two rules:
///
/// - **Reserved names.** Old clients put an owner after `/api/tasks/`: `hellojs`, `anybody`, a login name, a mail address,
///   a GUID. A row such as `/api/tasks/count` takes its word from them. So only an English word for a part of the list
///   may be reserved, in lower-case ASCII letters, and never one that a client in `docs/clients.md` sends. Its case comes
///   before ``tasksOfNamedOwner``.
/// - **What a read may cost.** One statement over rows of one owner, which an index leads to; never a look at other
///   people's rows. The answer has at most 16 KiB or is leased from `AnswerMemory` before it is rendered. The handler
///   returns ``HandlerResult/ready(_:)`` only for what is in memory, and never blocks: it runs on the event loop.
package enum Route: Int, CaseIterable, Sendable {
    case tasks, task, tasksOfNamedOwner, taskByText
    case me
    case unknownBelowAPI
    case health, readiness
    case pageConfiguration, protectedResource, protectedResourceByPath
    case file

    /// The row of this route.
    ///
    /// In a pattern `{id}` is an integer with or without a sign, `{name}` is any one segment,
    /// `{name*}` is what is left, of any length, and so is `?`.
    func definition(_ tasks: TaskHandlers, _ pages: PublicHandlers) -> RouteDefinition {
        switch self {
        case .tasks:
            .protected(
                "/api/tasks",
                Operation(.get, .head, scope: .read, handler: .withoutBody(tasks.list)),
                Operation(.post, scope: .write, handler: .withBody(tasks.add)),
                Operation(.patch, scope: .write, handler: .withBody(tasks.changeAll)),
                Operation(.delete, scope: .write, handler: .withBody(tasks.removeAllOrCompleted)))
        case .task:
            .protected(
                "/api/tasks/{id}",
                Operation(.get, .head, scope: .read, handler: .withoutBody(tasks.find)),
                Operation(.put, .patch, scope: .write, handler: .withBody(tasks.change)),
                Operation(.delete, scope: .write, handler: .withoutBody(tasks.remove)))
        case .tasksOfNamedOwner:
            // The owner in the path is ignored: tasks belong to the owner of the token.
            .protected(
                "/api/tasks/{owner}",
                Operation(.get, .head, scope: .read, handler: .withoutBody(tasks.list)),
                Operation(.delete, scope: .write, handler: .withBody(tasks.removeAll)))
        case .taskByText:
            .protected(
                "/api/tasks/{owner}/{text}",
                Operation(.post, scope: .write, handler: .withBody(tasks.addTextOfPath)),
                Operation(.delete, scope: .write, handler: .withBody(tasks.removeTextOfPath)))
        case .me:
            .protected("/api/me", Operation(.get, .head, scope: .read, handler: .withoutBody(PrincipalAnswer.answer)))
        // A path below /api that does not exist asks for a token like the others (V-08).
        case .unknownBelowAPI: .protected("/api/?")
        case .health: .open("/healthz", pages.health)
        case .readiness: .open("/readyz", pages.readiness)
        case .pageConfiguration: .open("/config.json", pages.pageConfiguration)
        case .protectedResource: .open("/.well-known/oauth-protected-resource", pages.protectedResource)
        case .protectedResourceByPath:
            .open("/.well-known/oauth-protected-resource/{resource*}", pages.protectedResource)
        case .file: .open("/{file*}", pages.file)
        }
    }
}
