import Basics
package import HTTP

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
        let row = rows.first { $0.definition.path.matches(path) } ?? rows[Route.file.rawValue]
        return RouteMatch(route: row.route, definition: row.definition, path: path)
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
