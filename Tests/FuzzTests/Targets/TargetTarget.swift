import HTTP
import Support
import TaskAPI

/// A decoded path has no separators, no NUL and no dots; what was read can be written and read again.
func checkTargets(_ input: [UInt8]) throws {
    let raw = input.text
    guard let target = try? RequestTarget(parsing: raw, host: "127.0.0.1:3000") else { return }
    try require(target.raw == raw, "the target is kept as it came")
    let size =
        target.path.reduce(0) { $0 + $1.utf8.count }
        + target.query.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    // A byte that is not UTF-8 takes three at least (`%FF`) and becomes two as Latin-1.
    try require(size <= raw.utf8.count, "decoding makes nothing longer")
    for segment in target.path {
        try require(!segment.isEmpty && segment != "." && segment != "..", "a segment is a name")
        try require(!segment.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }, "a segment holds no NUL, no slash")
    }
    for argument in target.query {
        try require(!(argument.name + argument.value).utf8.contains(0), "an argument holds no NUL")
    }
    try checkWrittenAgain(target)
    try checkRoute(target)
}

private func checkWrittenAgain(_ target: RequestTarget) throws {
    let path = "/" + target.path.map(escaped).joined(separator: "/")
    let query = target.query.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&")
    let again = try? RequestTarget(parsing: path + "?" + query)
    try require(again.map { same($0.path, target.path) } ?? false, "a path means the same when it is written again")
    let names = (again?.query ?? []).flatMap { [$0.name, $0.value] }
    try require(same(names, target.query.flatMap { [$0.name, $0.value] }), "so does a query")
}

private let routes = TaskAPI(TaskAPIConfiguration(store: MemoryTaskStore(), verifier: OneToken())).routes

/// What a log may show of a path: written before any path is read.
private let patterns = Set(routes.rows.map(\.definition.pattern))

private func checkRoute(_ target: RequestTarget) throws {
    let route = routes.match(target)
    try require(patterns.contains(route.definition.pattern), "a log shows a pattern of the table, never the path")
    if target.path.first == "api" {
        try require(route.definition.isProtected, "everything below /api asks for a token")
    }
    if route.route == .file {
        let name = route["file"]
        let isInside = !name.hasPrefix("/") && !name.split(separator: "/").contains("..")
        try require(isInside, "a file is in its folder")
    }
}

private func same(_ left: [String], _ right: [String]) -> Bool {
    left.elementsEqual(right) { $0.utf8.elementsEqual($1.utf8) }
}
