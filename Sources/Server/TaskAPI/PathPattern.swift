import Basics
import HTTP

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
    private let isLiteral: Bool

    init(_ pattern: StaticString) {
        text = pattern.description.filter { $0 != "*" }
        isLiteral = !text.contains { "{?".contains($0) }
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
        if isLiteral { return bytes.isSame(as: text) }
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
