import Basics
import HTTP

/// One row of the route table.
struct AuthorityRoute<Context: Sendable>: Sendable {
    /// The path without a slash at its start.
    ///
    /// A segment in braces matches any one segment, `*` at the end any number.
    let path: String
    let methods: RouteMethods
    /// The name under which faults are set at this endpoint; `nil` where none can be.
    let fault: Fault.Endpoint?
    let handle: @Sendable (Context) async -> Decision
    private let pattern: [String]

    init(
        _ methods: RouteMethods, _ path: String, fault: Fault.Endpoint? = nil,
        handle: @escaping @Sendable (Context) async -> Decision
    ) {
        self.methods = methods
        self.path = path
        self.fault = fault
        self.handle = handle
        pattern = path.lowercased().split(separator: "/").map(String.init)
    }

    /// Whether the path is that of these segments, in any case.
    func matches(_ segments: some Collection<String>) -> Bool {
        var rest = segments[...]
        for part in pattern {
            if part == "*" { return true }
            guard let segment = rest.popFirst(), part.hasPrefix("{") || segment.lowercased().isSame(as: part) else {
                return false
            }
        }
        return rest.isEmpty
    }
}

struct RouteMethods: OptionSet, Sendable {
    let rawValue: Int

    /// `GET` and `HEAD`.
    static let get = RouteMethods(rawValue: 1)
    static let post = RouteMethods(rawValue: 2)
    static let put = RouteMethods(rawValue: 4)
    static let delete = RouteMethods(rawValue: 8)
    static let any = RouteMethods(rawValue: 16)

    func allows(_ method: Method) -> Bool {
        if contains(.any) { return true }
        return switch method {
        case .get, .head: contains(.get)
        case .post: contains(.post)
        case .put: contains(.put)
        case .delete: contains(.delete)
        case .patch, .options, .other: false
        }
    }

    /// For the `Allow` field.
    var names: [String] {
        let known: [(RouteMethods, String)] = [(.get, "GET"), (.post, "POST"), (.put, "PUT"), (.delete, "DELETE")]
        return known.filter { contains($0.0) }.map(\.1)
    }
}

extension Array {
    /// The row for a method, or the 405 of these rows, which share a path.
    func decide<Context>(_ method: Method, _ context: Context) async -> Decision
    where Element == AuthorityRoute<Context> {
        if let route = first(where: { $0.methods.allows(method) }) { return await route.handle(context) }
        let names = reduce(RouteMethods()) { $0.union($1.methods) }.names
        return .respond(Response.methodNotAllowed(names.joined(separator: ", ")))
    }
}
