import Basics

extension JSONValue {
    /// Returns the value as one line of UTF-8 without white space, with its members in their order.
    package func serialized() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        append(to: &bytes)
        return bytes
    }

    /// Appends the value, see ``serialized()``; a number that JSON does not have is null.
    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let number): bytes += String(number).utf8
        case .real(let number): bytes += (number.isFinite ? "\(number)" : "null").utf8
        case .string(let text): bytes.append(quoting: text)
        case .array(let elements):
            bytes.append(list: elements, "[", "]") { $1.append(to: &$0) }
        case .object(let object):
            bytes.append(list: object.members, "{", "}") { bytes, member in
                bytes.append(quoting: member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(quoting text: String) {
        append(UInt8(ascii: "\""))
        JSONEscapedText(text).append(to: &self)
        append(UInt8(ascii: "\""))
    }

    fileprivate mutating func append<Item>(
        list: [Item], _ start: Unicode.Scalar, _ end: Unicode.Scalar, _ appendItem: (inout [UInt8], Item) -> Void
    ) {
        append(UInt8(ascii: start))
        for (index, item) in list.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            appendItem(&self, item)
        }
        append(UInt8(ascii: end))
    }
}
