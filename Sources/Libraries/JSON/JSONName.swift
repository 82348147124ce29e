import Basics

/// The name of a member, in a JSON text.
struct JSONName {
    let string: JSONScalar
    /// A hash of the name, which differs for most names that differ.
    private let hash: UInt64

    init(_ string: JSONScalar, in text: [UInt8]) {
        self.string = string
        let bytes = text.span
        hash =
            string.kind == .plainString
            ? Self.hash(bytes.extracting(string.start..<string.end)) : Self.hash(string.string(in: text).utf8.span)
    }

    /// The factor is random in each process, so that nobody can choose names that have the same hash.
    private static let factor = UInt64.random(in: .min ... .max) | 1

    private static func hash(_ bytes: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0
        for index in bytes.indices { hash = hash &* factor &+ UInt64(bytes[index]) }
        return hash
    }

    /// Returns whether both names are the same after their escapes are resolved.
    func isSame(as other: JSONName, in text: [UInt8]) -> Bool {
        hash == other.hash && string.string(in: text).isSame(as: other.string.string(in: text))
    }

    /// Returns the index of a name among these names.
    static func index(of name: String, in names: [JSONName], of text: [UInt8]) -> Int? {
        let hash = hash(name.utf8.span)
        for index in names.indices where names[index].hash == hash && names[index].isSame(as: name, in: text) {
            return index
        }
        return nil
    }

    private func isSame(as name: String, in text: [UInt8]) -> Bool {
        guard string.kind == .plainString else { return string.string(in: text).isSame(as: name) }
        return text.span.extracting(string.start..<string.end).isSame(as: name.utf8.span)
    }
}
