import Basics

/// The members of a JSON object: checked as strictly as any (``JSONValue/init(parsing:limits:)``), each value decoded when
/// somebody asks for it.
///
/// For tokens, whose claims are many and of which few are read: a string that is not asked for is never made.
package struct JSONMembers: Sendable {
    private enum Value {
        case scalar(JSONScalar)
        /// The index of an array or object.
        case nested(Int)
    }

    private struct Member {
        let name: JSONScalar
        let value: Value
    }

    private let text: [UInt8]
    private let members: [Member]
    /// The arrays and objects.
    private let nested: [JSONValue]

    /// Reads a text that must be one object.
    ///
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - limits: what is refused (V-20, V-51).
    ///   - most: the most members of the object itself.
    package init(parsing bytes: [UInt8], limits: JSONLimits, most: Int) throws(JSONError) {
        var scanner = try JSONScanner(bytes, limits)
        guard scanner.next == UInt8(ascii: "{") else { throw .malformed(reason: "not an object", offset: 0) }
        var members: [Member] = []
        var nested: [JSONValue] = []
        members.reserveCapacity(16)
        try scanner.open()
        while let name = try scanner.findMember(isFirst: members.isEmpty) {
            guard members.count < most else { throw .tooLong }
            switch scanner.next {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                members.append(Member(name: name, value: .nested(nested.count)))
                nested.append(try JSONValue(from: &scanner))
            default: members.append(Member(name: name, value: .scalar(try scanner.scalar())))
            }
        }
        try scanner.checkUnique(members.map(\.name))
        try scanner.finish()
        text = bytes
        self.members = members
        self.nested = nested
    }

    /// The value under a name, compared byte by byte.
    package subscript(name: String) -> JSONValue? {
        index(of: name).map(value)
    }

    package func contains(_ name: String) -> Bool { index(of: name) != nil }

    /// The names, unescaped, in their order.
    package var names: [String] { members.map { $0.name.string(in: text) } }

    private func value(at index: Int) -> JSONValue {
        switch members[index].value {
        case .scalar(let scalar): scalar.value(in: text)
        case .nested(let index): nested[index]
        }
    }

    private func index(of name: String) -> Int? {
        let (bytes, wanted) = (text.span, name.utf8.span)
        for index in members.indices {
            let member = members[index].name
            if member.kind == .escapedString {
                if member.string(in: text).isSame(as: name) { return index }
            } else if member.count == wanted.count {
                var same = 0
                while same < wanted.count, bytes[member.start + same] == wanted[same] { same += 1 }
                if same == wanted.count { return index }
            }
        }
        return nil
    }
}
