package import HTTP

/// What a path means, whoever asks and whatever is asked of it (design: addressing).
///
/// Repeated and trailing slashes are gone already (``RequestTarget/path`` has no empty segments). A leading
/// `todoserver` is dropped; `tasks` and `tasks:<digits>` mean `api/tasks`, because the sample clients were configured
/// with all of them. Nothing is ever redirected: the clients lose their body or their token on the way.
package enum Route: Equatable, Sendable {
    /// `/api/tasks`.
    case tasks
    /// `/api/tasks/{integer}`; nil for an integer that is the id of no task: with a sign, or beyond 64 bits.
    case task(Int64?)
    /// `/api/tasks/{anything else}`: old clients put an owner there.
    case tasksOfNamedOwner
    /// `/api/tasks/{owner}/{text}`: the owner is ignored, the text is not.
    case taskByText(String)
    /// `/api/me`.
    case me
    /// Anything else below `/api`: shown to nobody without a token (V-08).
    case unknownBelowAPI
    case health, readiness, pageConfiguration, protectedResource
    /// A file of `Public/`, by its path without the leading slash; `index.html` for the root.
    case file(String)

    /// The meaning of a path, given as its decoded segments.
    package init(path: [String]) {
        var path = path[...]
        if path.first == "todoserver" { path = path.dropFirst() }
        if path.first == "api", let second = path.dropFirst().first {
            switch second {
            case "tasks": self = Route(belowTasks: path.dropFirst(2))
            case "me" where path.count == 2: self = .me
            default: self = .unknownBelowAPI
            }
        } else if let first = path.first, Self.isTasksAlias(first) {
            self = Route(belowTasks: path.dropFirst())
        } else {
            self = Route(public: path)
        }
    }

    private init(belowTasks rest: ArraySlice<String>) {
        guard let first = rest.first else {
            self = .tasks
            return
        }
        switch rest.count {
        case 1: self = Route(task: first)
        case 2: self = .taskByText(rest[rest.startIndex + 1])
        default: self = .unknownBelowAPI
        }
    }

    private init(task segment: String) {
        let sign = segment.utf8.first.map { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") } ?? false
        let digits = segment.utf8.dropFirst(sign ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
            self = .tasksOfNamedOwner
            return
        }
        self = .task(sign ? nil : Int64(segment))
    }

    private init(public path: ArraySlice<String>) {
        switch Array(path) {
        case []: self = .file("index.html")
        case ["api"]: self = .unknownBelowAPI
        case ["healthz"]: self = .health
        case ["readyz"]: self = .readiness
        case ["config.json"]: self = .pageConfiguration
        case [".well-known", "oauth-protected-resource"]: self = .protectedResource
        default: self = .file(path.joined(separator: "/"))
        }
    }

    /// `tasks`, and `tasks:3000`: the tutorials' malformed address `http://localhost/tasks:3000` has this path.
    private static func isTasksAlias(_ segment: String) -> Bool {
        guard segment.hasPrefix("tasks") else { return false }
        let rest = segment.utf8.dropFirst(5)
        return rest.isEmpty
            || (rest.first == UInt8(ascii: ":") && rest.count > 1 && rest.dropFirst().allSatisfy(\.isDigit))
    }

    /// The path as a pattern: all that a log may show, since paths can carry the words of a task.
    package var template: String {
        switch self {
        case .tasks: "/api/tasks"
        case .task: "/api/tasks/{id}"
        case .tasksOfNamedOwner: "/api/tasks/{owner}"
        case .taskByText: "/api/tasks/{owner}/{text}"
        case .me: "/api/me"
        case .unknownBelowAPI: "/api/?"
        case .health: "/healthz"
        case .readiness: "/readyz"
        case .pageConfiguration: "/config.json"
        case .protectedResource: "/.well-known/oauth-protected-resource"
        case .file: "/{file}"
        }
    }

    /// The methods that mean something here, beside `OPTIONS`, in the order of an `Allow` field (V-147).
    package var methods: [Method] {
        switch self {
        case .tasks: [.get, .head, .post, .delete]
        case .task: [.get, .head, .put, .patch, .delete]
        case .tasksOfNamedOwner: [.get, .head, .delete]
        case .taskByText: [.post, .delete]
        case .me, .health, .readiness, .pageConfiguration, .protectedResource, .file: [.get, .head]
        case .unknownBelowAPI: []
        }
    }

    /// Whether a token is asked for before anything else is said (V-09).
    package var isProtected: Bool {
        switch self {
        case .tasks, .task, .tasksOfNamedOwner, .taskByText, .me, .unknownBelowAPI: true
        case .health, .readiness, .pageConfiguration, .protectedResource, .file: false
        }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
