/// The target of a request in origin form, taken apart: path and query, decoded after they were split (V-144).
package struct RequestTarget: Sendable, Equatable {
    /// One argument of the query, decoded.
    package struct Argument: Sendable, Equatable {
        package let name: String
        /// The value; empty where there was no `=`.
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// As in the request line.
    ///
    /// May carry a token in its query: never log it.
    package let raw: String
    /// The segments of the path, each decoded; empty ones (from `//` and a trailing `/`) are left out.
    package let path: [String]
    package let query: [Argument]

    /// A target of these parts; ``init(parsing:)`` takes apart what a client sent.
    package init(raw: String, path: [String], query: [Argument] = []) {
        self.raw = raw
        self.path = path
        self.query = query
    }

    /// The value of the first argument of this name, compared byte by byte.
    package subscript(name: String) -> String? {
        query.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}
