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
        for index in segments.indices {
            if case .rest = segments[index] { return true }
            guard index < path.count else { return false }
            switch segments[index] {
            case .literal(let literal):
                guard path[index] == literal else { return false }
            case .integer:
                guard Self.isInteger(path[index]) else { return false }
            case .any, .rest: break
            }
        }
        return path.count == segments.count
    }

    /// The segments of a path that this name means; nil if the pattern has no such name.
    func segments(named name: String, of path: RequestPath) -> Range<Int>? {
        for index in segments.indices {
            switch segments[index] {
            case .integer(name), .any(name): return index..<index + 1
            case .rest(name): return index..<path.count
            case .literal, .integer, .any, .rest: continue
            }
        }
        return nil
    }

    private static func isInteger(_ segment: String) -> Bool {
        let hasSign = segment.utf8.first.map { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") } ?? false
        let digits = segment.utf8.dropFirst(hasSign ? 1 : 0)
        return !digits.isEmpty && digits.allSatisfy(\.isDigit)
    }
}

/// The path of a request in the form in which patterns are written.
///
/// Repeated and trailing slashes are gone already (``RequestTarget/path`` has no empty segments). A leading
/// `todoserver` is dropped; `tasks` and `tasks:<digits>` mean `api/tasks`, because the sample clients were configured
/// with all of them (docs/clients.md, "Addresses"). Nothing is ever redirected: the clients lose their body or their
/// token on the way.
struct RequestPath: Sendable {
    private let segments: ArraySlice<String>
    /// Whether the first segment means `api/tasks`.
    private let isAlias: Bool

    init(_ path: [String]) {
        segments = path.first == "todoserver" ? path.dropFirst() : path[...]
        isAlias = segments.first.map { Self.isTasksAlias($0) } ?? false
    }

    var count: Int { segments.count + (isAlias ? 1 : 0) }

    subscript(index: Int) -> String {
        guard isAlias else { return segments[segments.startIndex + index] }
        switch index {
        case 0: return "api"
        case 1: return "tasks"
        default: return segments[segments.startIndex + index - 1]
        }
    }

    /// `tasks`, and `tasks:3000`: the tutorials' malformed address `http://localhost/tasks:3000` has this path.
    private static func isTasksAlias(_ segment: String) -> Bool {
        guard segment.hasPrefix("tasks") else { return false }
        let rest = segment.utf8.dropFirst(5)
        return rest.isEmpty
            || (rest.first == UInt8(ascii: ":") && rest.count > 1 && rest.dropFirst().allSatisfy(\.isDigit))
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
