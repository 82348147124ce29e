import JSON

/// Reads a JSON object in the form that exports write: flat, without white space, escapes, `null` and fractions.
///
/// Several times as fast as the JSON library, which would otherwise take most of the time of an import. Everything else is
/// left to the library, which also has the error messages.
struct PlainJSONReader {
    private let bytes: [UInt8]
    private var position = 0

    /// The members of an object, whose names may repeat; nil for any other form.
    static func members(in bytes: [UInt8]) -> [JSONObject.Member]? {
        var reader = PlainJSONReader(bytes: bytes)
        return reader.object()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func object() -> [JSONObject.Member]? {
        var members: [JSONObject.Member] = []
        members.reserveCapacity(7)
        guard skip("{") else { return nil }
        repeat {
            guard skip("\""), let name = string(), skip(":"), let value = value() else { return nil }
            members.append(JSONObject.Member(name: name, value: value))
        } while skip(",")
        return skip("}") && position == bytes.count ? members : nil
    }

    private mutating func value() -> JSONValue? {
        guard position < bytes.count else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "\""):
            position += 1
            return string().map { .string($0) }
        case UInt8(ascii: "t"): return skip("true") ? .boolean(true) : nil
        case UInt8(ascii: "f"): return skip("false") ? .boolean(false) : nil
        default: return number().map { .integer($0) }
        }
    }

    /// Moves after this text, if it comes next.
    private mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= bytes.count - position else { return false }
        for offset in 0..<count where unsafe bytes[position + offset] != text.utf8Start[offset] { return false }
        position += count
        return true
    }

    /// The string up to the next quotation mark, and moves after that.
    private mutating func string() -> String? {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            guard bytes[position] >= 0x20, bytes[position] != UInt8(ascii: "\\") else { return nil }
            position += 1
        }
        let end = position
        guard skip("\"") else { return nil }
        return String(validating: bytes[start..<end], as: UTF8.self)
    }

    /// A number without a sign, of not more digits than every reader of JSON takes exactly.
    private mutating func number() -> Int64? {
        var value: Int64 = 0
        let start = position
        while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
            guard position - start < 15, position == start || value > 0 else { return nil }
            value = value * 10 + Int64(bytes[position] - UInt8(ascii: "0"))
            position += 1
        }
        return position > start ? value : nil
    }
}
