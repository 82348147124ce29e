package import HTTP
import Tokens

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
        /// Decides without a body. A body that is sent is dropped.
        case withoutBody(@Sendable (APIRequest, Principal) throws(APIFailure) -> HandlerResult)
        case withBody(@Sendable (APIRequest, Principal, [UInt8]) throws(APIFailure) -> HandlerResult)
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
    /// The rest of the work, which may wait, for example for the store.
    typealias Work = @Sendable () async throws(APIFailure) -> Response

    case ready(Response)
    case pending(Work)

    /// Does the rest of the work.
    func response() async throws(APIFailure) -> Response {
        switch self {
        case .ready(let response): response
        case .pending(let work): try await work()
        }
    }
}
