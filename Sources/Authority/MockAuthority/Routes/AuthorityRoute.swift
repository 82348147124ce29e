import Basics
import HTTP

/// One row of the route table.
struct AuthorityRoute<Context: Sendable>: Sendable {
    /// The path without a slash at its start.
    ///
    /// A segment in braces matches any one segment, `*` at the end any number.
    let path: String
    /// The methods that are answered, where `GET` stands for `HEAD` too; all of them if the list is empty.
    let methods: [Method]
    /// The name under which faults are set at this endpoint; `nil` where none can be.
    let fault: Fault.Endpoint?
    let handle: @Sendable (Context) async -> Decision
    private let pattern: [String]

    init(
        _ methods: [Method], _ path: String, fault: Fault.Endpoint? = nil,
        handle: @escaping @Sendable (Context) async -> Decision
    ) {
        self.methods = methods
        self.path = path
        self.fault = fault
        self.handle = handle
        pattern = path.lowercased().split(separator: "/").map(String.init)
    }

    func allows(_ method: Method) -> Bool { methods.isEmpty || methods.contains(method == .head ? .get : method) }

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

extension Array {
    /// The row for a method, or the 405 of these rows, which share a path.
    func decide<Context>(_ method: Method, _ context: Context) async -> Decision
    where Element == AuthorityRoute<Context> {
        if let route = first(where: { $0.allows(method) }) { return await route.handle(context) }
        return .respond(Response.methodNotAllowed(flatMap(\.methods).map(\.name).joined(separator: ", ")))
    }
}
