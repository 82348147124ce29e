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
    /// The closure makes the answer. It may wait, for example for the store.
    case pending(@Sendable () async throws(APIFailure) -> Response)

    func response() async throws(APIFailure) -> Response {
        switch self {
        case .ready(let response): response
        case .pending(let finish): try await finish()
        }
    }
}

/// The rows of all routes, with the handlers of one API.
package struct RouteTable: Sendable {
    /// In the order of ``Route``.
    package let rows: [(route: Route, definition: RouteDefinition)]

    private let base: String

    /// `base` is the path below which a proxy has put the server, or nothing.
    init(_ tasks: TaskHandlers, _ pages: PublicHandlers, below base: String = "") {
        self.base = base
        rows = Route.allCases.map { ($0, $0.definition(tasks, pages)) }
    }

    package subscript(route: Route) -> RouteDefinition { rows[route.rawValue].definition }

    /// The first route that matches the path of a target; ``Route/file`` matches what no other does.
    package func match(_ target: RequestTarget) -> RouteMatch {
        let path = RequestPath(target, below: base)
        for (route, definition) in rows where definition.path.matches(path) {
            return RouteMatch(route: route, definition: definition, path: path)
        }
        return RouteMatch(route: .file, definition: self[.file], path: path)
    }
}

/// The route of a path, with the values of its pattern's names.
package struct RouteMatch: Sendable {
    package let route: Route
    package let definition: RouteDefinition
    let path: RequestPath

    /// The segment of this name, or all that is left for `{name*}`; empty where the pattern has no such name.
    package subscript(name: String) -> String {
        definition.path.text(named: name, of: path) ?? ""
    }

    /// The value of `{id}`; nil for an integer that is the id of no task: with a sign, or beyond 64 bits.
    package var taskIdentifier: Int64? {
        Int64(decimal: self["id"])
    }
}

/// The pattern of a route's path, such as `/api/tasks/{id}`.
struct PathPattern: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        /// Digits, perhaps after a sign.
        case integer(name: String)
        case any(name: String)
        /// All segments that are left, of any number.
        case rest(name: String)
    }

    /// The pattern as a log shows it, since paths can carry the text of a task.
    let text: String
    private let segments: [Segment]

    init(_ pattern: StaticString) {
        text = pattern.description.filter { $0 != "*" }
        segments = pattern.description.split(separator: "/").map { segment in
            if segment == "?" { return .rest(name: "") }
            guard segment.hasPrefix("{") else { return .literal(String(segment)) }
            let name = segment.dropFirst().dropLast()
            if name.hasSuffix("*") { return .rest(name: String(name.dropLast())) }
            return name == "id" ? .integer(name: String(name)) : .any(name: String(name))
        }
    }

    func matches(_ path: RequestPath) -> Bool {
        let bytes = path.text.utf8.span
        var start = 0
        for segment in segments {
            if case .rest = segment { return true }
            guard start < bytes.count else { return false }
            let range = bytes.segment(at: start)
            switch segment {
            case .literal(let literal):
                guard bytes.extracting(range).isSame(as: literal) else { return false }
            case .integer:
                guard bytes.extracting(range).isInteger else { return false }
            case .any, .rest: break
            }
            start = range.upperBound
        }
        return start == bytes.count
    }

    /// Returns the part of a path that has this name: a segment, or all that is left; nil if the pattern has none.
    func text(named name: String, of path: RequestPath) -> String? {
        let bytes = path.text.utf8.span
        var start = 0
        for segment in segments {
            switch segment {
            case .integer(name), .any(name): return path.text(bytes.segment(at: start))
            case .rest(name): return path.text(min(start + 1, bytes.count)..<bytes.count)
            case .literal, .integer, .any, .rest: start = bytes.segment(at: start).upperBound
            }
        }
        return nil
    }
}

/// The path of a request in the form in which patterns are written, without empty segments.
///
/// The path below which a proxy has put the server is dropped, since not every proxy takes it away. A leading
/// `todoserver` is dropped as well, and `tasks` or `tasks:<digits>` is `api/tasks`, because the sample clients were
/// configured with all of them (docs/internals/clients.md, "Addresses"). Nothing is redirected: clients would lose body or token.
struct RequestPath: Sendable {
    /// A slash before each segment.
    let text: String
    /// Whether only old clients have this address, whose errors are text unless they ask for JSON.
    let isOld: Bool

    init(_ target: RequestTarget, below base: String) {
        var text = target.absolutePath
        if !base.isEmpty, text == base || text.hasPrefix("\(base)/") { text = String(text.dropFirst(base.count)) }
        let path = text.utf8.span
        let isBelowOld = path.extracting(path.segment(at: 0)).isSame(as: "todoserver")
        if isBelowOld { text = String(Substring(text.utf8.dropFirst(11))) }
        let rest = Self.afterTasksAlias(text)
        if let rest { text = "/api/tasks" + rest }
        self.text = text
        isOld = isBelowOld || rest != nil
    }

    func text(_ range: Range<Int>) -> String {
        String(Substring(text.utf8.dropFirst(range.lowerBound).prefix(range.count)))
    }

    /// Returns the rest after a first segment `tasks`, or `tasks:3000`: the tutorials' malformed address
    /// `http://localhost/tasks:3000` has this path.
    private static func afterTasksAlias(_ text: String) -> String? {
        let bytes = text.utf8.span
        guard bytes.count > 5, bytes.extracting(0..<6).isSame(as: "/tasks") else { return nil }
        let end = bytes.segment(at: 0).upperBound
        let port = bytes.extracting(6..<end)
        guard port.isEmpty || (port[0] == UInt8(ascii: ":") && port.extracting(1..<port.count).isDigits) else {
            return nil
        }
        return String(Substring(text.utf8.dropFirst(end)))
    }
}

extension Span<UInt8> {
    /// The segment after the slash at this offset; empty at the end.
    fileprivate func segment(at slash: Int) -> Range<Int> {
        guard slash < count else { return count..<count }
        var end = slash + 1
        while end < count, self[end] != UInt8(ascii: "/") { end += 1 }
        return slash + 1..<end
    }

    fileprivate var isDigits: Bool {
        for index in indices where !self[index].isDecimalDigit { return false }
        return !isEmpty
    }

    /// Digits, perhaps after a sign.
    fileprivate var isInteger: Bool {
        let hasSign = !isEmpty && (self[0] == UInt8(ascii: "-") || self[0] == UInt8(ascii: "+"))
        return extracting((hasSign ? 1 : 0)..<count).isDigits
    }
}

extension HTTPFault {
    /// Answers a request that never reached the API, in the form that the clients of its address read.
    package static func refuse(atAPI fault: HTTPFault, _ head: RequestHead?, below base: String) -> Response {
        let isOld = head.map { RequestPath($0.target, below: base).isOld } ?? false
        return refuse(fault, head, isOld: isOld, below: base)
    }
}
