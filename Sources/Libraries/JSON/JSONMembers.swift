/// The members of a JSON object, whose values are decoded on demand.
///
/// The object is checked as strictly as by ``JSONValue/init(parsing:limits:)``. A token has many claims, of which few
/// are read, and a string that nobody asks for is never made. Lines of an import are read in the same way.
package struct JSONMembers: Sendable {
    private enum Value {
        case scalar(JSONScalar)
        /// The index of an array or object.
        case nested(Int)
    }

    private let text: [UInt8]
    private let memberNames: [JSONName]
    /// The values, in the order of the names.
    private let values: [Value]
    /// The arrays and objects.
    private let nested: [JSONValue]

    /// Reads a text that must be one object with at most this many members, without a byte-order mark (V-20, V-51).
    package init(parsing bytes: [UInt8], limits: JSONLimits, most: Int) throws(JSONError) {
        var scanner = try JSONScanner(bytes, limits)
        guard scanner.next == UInt8(ascii: "{") else { throw .malformed(reason: "not an object", offset: 0) }
        var names: [JSONName] = []
        var values: [Value] = []
        var nested: [JSONValue] = []
        names.reserveCapacity(16)
        values.reserveCapacity(16)
        try scanner.open()
        while let name = try scanner.findMember(isFirst: names.isEmpty) {
            guard names.count < most else { throw .tooLong }
            names.append(name)
            switch scanner.next {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                values.append(.nested(nested.count))
                nested.append(try JSONValue(from: &scanner))
            default: values.append(.scalar(try scanner.scalar()))
            }
        }
        try scanner.checkUnique(names)
        try scanner.finish()
        text = bytes
        memberNames = names
        self.values = values
        self.nested = nested
    }

    /// The value under a name, compared byte by byte.
    package subscript(name: String) -> JSONValue? {
        guard let index = JSONName.index(of: name, in: memberNames, of: text) else { return nil }
        return switch values[index] {
        case .scalar(let scalar): scalar.value(in: text)
        case .nested(let index): nested[index]
        }
    }

    package var count: Int { memberNames.count }

    package func contains(_ name: String) -> Bool { JSONName.index(of: name, in: memberNames, of: text) != nil }

    /// The names, unescaped, in their order.
    package var names: [String] { memberNames.map { $0.string.string(in: text) } }
}
