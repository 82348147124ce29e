/// The target of a request in origin form, taken apart: path and query, decoded after they were split (V-144).
public struct RequestTarget: Sendable, Equatable {
    /// One argument of the query, decoded.
    public struct Argument: Sendable, Equatable {
        /// The name.
        public let name: String
        /// The value; empty where there was no `=`.
        public let value: String

        /// An argument of this name and value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// As it stood in the request line.
    ///
    /// May carry a token in its query: never log it.
    public let raw: String
    /// The segments of the path, each decoded; empty ones (from `//` and a trailing `/`) are left out.
    public let path: [String]
    /// The arguments of the query, in order.
    public let query: [Argument]

    /// A target of these parts; ``init(parsing:)`` takes apart what a client sent.
    public init(raw: String, path: [String], query: [Argument] = []) {
        self.raw = raw
        self.path = path
        self.query = query
    }

    /// The value of the first argument of this name, compared byte by byte.
    public subscript(name: String) -> String? {
        query.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}
