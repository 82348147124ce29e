import Basics

/// The target of a request in origin form, taken apart: path and query, decoded after they were split (V-144).
package struct RequestTarget: Sendable, Equatable {
    /// One argument of the query, decoded.
    package struct Argument: Sendable, Equatable {
        package let name: String
        /// The value; empty if there was no `=`.
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The text in the request line, whose query may carry a token: never log it.
    package let raw: String
    /// The path with a slash before each segment, decoded and without empty segments; empty for `/`.
    package let absolutePath: String
    package let query: [Argument]

    /// Creates a target of these parts; ``init(parsing:)`` takes apart the target that a client sent.
    package init(raw: String, absolutePath: String, query: [Argument] = []) {
        self.raw = raw
        self.absolutePath = absolutePath
        self.query = query
    }

    /// The segments of the path.
    package var path: [String] {
        absolutePath.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The value of the first argument of this name, compared byte by byte.
    package subscript(name: String) -> String? { query[name] }
}

extension [RequestTarget.Argument] {
    /// The value of the first argument of this name, compared byte by byte.
    package subscript(name: String) -> String? { first { $0.name.isSame(as: name) }?.value }
}
