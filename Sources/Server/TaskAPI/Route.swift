import Basics
package import HTTP
import Tasks
import Tokens

/// The routes of the API: one table of patterns, methods, scopes and handlers.
///
/// Everything else is read from ``definition(_:_:)``: how a path is matched, the pattern that a log shows in place of
/// the path, `Allow`, 405, the methods of a preflight, whether a token is required, and whether a body is read. The
/// first route that matches is taken. `Tests/TaskAPITests/ContractTests.swift` compares the table with
/// `Public/openapi.yaml`, which leaves out what only the clients of `docs/internals/clients.md` use.
///
/// A new route is a case, its row, and a handler; each demands the next, or the package does not compile. Two rules:
///
/// - **Reserved names.** Old clients put an owner after `/api/tasks/`: `hellojs`, `anybody`, a login name, a mail
///   address, a GUID. A row such as `/api/tasks/count` takes its word from them. So only an English word for a part of
///   the list may be reserved, in lower-case ASCII letters, and never one that a client in `docs/internals/clients.md` sends. Its
///   case comes before ``tasksOfNamedOwner``.
/// - **What a read may cost.** One statement over rows of one owner, which an index leads to; never a look at other
///   people's rows. The answer has at most 16 KiB or a place of `AnswerMemory` before it grows beyond. The handler
///   returns ``HandlerResult/ready(_:)`` only for what is in memory, and never blocks: it runs on the event loop.
package enum Route: Int, CaseIterable, Sendable {
    case tasks, task, changes, tasksOfNamedOwner, taskByText
    case me, export
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
                Operation(.delete, scope: .write, handler: .withBody(tasks.removeAll)))
        case .task:
            .protected(
                "/api/tasks/{id}",
                Operation(.get, .head, scope: .read, handler: .withoutBody(tasks.find)),
                Operation(.put, .patch, scope: .write, handler: .withBody(tasks.change)),
                Operation(.delete, scope: .write, handler: .withoutBody(tasks.remove)))
        case .changes:
            .protected("/api/tasks/changes", Operation(.get, .head, scope: .read, handler: .withoutBody(tasks.changes)))
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
            .protected(
                "/api/me",
                Operation(.get, .head, scope: .read, handler: .ofPrincipal(TaskHandlers.claims)),
                Operation(.delete, scope: .write, handler: .withoutBody(tasks.removeOwner)))
        case .export:
            .protected("/api/me/export", Operation(.get, .head, scope: .read, handler: .withoutBody(tasks.export)))
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

/// One row of the table of routes (``Route``); a class, so that a request takes one reference to it.
package final class RouteDefinition: Sendable {
    /// A handler of a page that everyone may read.
    typealias OpenHandler = @Sendable (APIRequest) throws(APIFailure) -> HandlerResult

    /// Who may use the route.
    enum Access: Sendable {
        /// Everyone, with `GET` and `HEAD`.
        case open(OpenHandler)
        /// Holders of a token, which is checked before anything else (V-09).
        case token([Operation])
    }

    let path: PathPattern
    let access: Access
    /// See ``PathPattern/text``.
    package var pattern: String { path.text }

    /// The methods in the order of an `Allow` field, without `OPTIONS` (V-147).
    package let methods: [Method]

    private init(_ pattern: StaticString, _ access: Access) {
        path = PathPattern(pattern)
        self.access = access
        switch access {
        case .open: methods = [.get, .head]
        case .token(let operations): methods = operations.flatMap(\.methods)
        }
    }

    static func open(_ pattern: StaticString, _ handler: @escaping OpenHandler) -> RouteDefinition {
        RouteDefinition(pattern, .open(handler))
    }

    static func protected(_ pattern: StaticString, _ operations: Operation...) -> RouteDefinition {
        RouteDefinition(pattern, .token(operations))
    }

    /// Whether a token is required before anything else is answered (V-09).
    package var isProtected: Bool { if case .token = access { true } else { false } }

    /// The operation of this route on a method; nil for a method that the route does not have, and for an open route.
    package func operation(_ method: Method) -> Operation? {
        switch access {
        case .open: nil
        case .token(let operations): operations.first { $0.methods.contains(method) }
        }
    }
}

/// The operation of some methods of a protected route.
package struct Operation: Sendable {
    /// The scope that a token must have, if the settings name one for it (V-59).
    package enum Scope: String, Sendable { case read, write }

    enum Handler: Sendable {
        /// Answers by the token alone. A body that is sent is dropped.
        case ofPrincipal(@Sendable (Principal) -> HandlerResult)
        /// Decides without a body. A body that is sent is dropped.
        case withoutBody(@Sendable (APIRequest, Owner) throws(APIFailure) -> HandlerResult)
        case withBody(@Sendable (APIRequest, Owner, [UInt8]) throws(APIFailure) -> HandlerResult)
    }

    let methods: [Method]
    package let scope: Scope
    let handler: Handler

    package var readsBody: Bool { if case .withBody = handler { true } else { false } }

    init(_ methods: Method..., scope: Scope, handler: Handler) {
        self.methods = methods
        self.scope = scope
        self.handler = handler
    }
}

/// The result of a handler for a request that it accepts.
enum HandlerResult: Sendable {
    case ready(Response)
    /// The closure begins a call of the store; when that is answered, another one goes on, on the event loop.
    case calling(@Sendable (_ resume: @escaping @Sendable (@escaping Rest) -> Void) -> Cancellation)
    /// The closure goes on in a task: for what waits several times, or for other things than the store.
    case pending(@Sendable () async throws(APIFailure) -> HandlerResult)

    typealias Rest = @Sendable () throws(APIFailure) -> HandlerResult
}

extension HTTPFault {
    /// Answers a request that never reached the API, in the form that the clients of its address read.
    package static func refuse(atAPI fault: HTTPFault, _ head: RequestHead?, below base: String) -> Response {
        let isOld = head.map { RequestPath($0.target, below: base).isOld } ?? false
        return refuse(fault, head, isOld: isOld, below: base)
    }
}
