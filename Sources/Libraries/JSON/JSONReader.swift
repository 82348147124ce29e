private import CJansson

/// Why bytes are not the expected JSON.
package enum JSONError: Error, Equatable, Sendable {
    /// Longer than the limit, or of more values.
    case tooLong
    /// Nested deeper than the limit.
    case tooDeep
    /// Not RFC 8259: the reason and the byte at which it shows.
    case malformed(reason: String, offset: Int)
}

/// The limits of one reading.
package struct JSONLimits: Sendable, Equatable {
    /// The longest text, in bytes.
    package var bytes: Int
    /// The deepest nesting of arrays and objects.
    package var depth: Int
    /// The most values, those of arrays and members counted together.
    package var values: Int

    package init(bytes: Int = 1 << 20, depth: Int = 32, values: Int = .max) {
        self.bytes = bytes
        self.depth = depth
        self.values = values
    }
}

extension JSONValue {
    /// Reads one JSON text, strictly: UTF-8 only, no byte-order mark, unique names, nothing after the value.
    ///
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - limits: what is refused before the parser sees it (V-20, V-148).
    /// - Throws: ``JSONError``; nothing traps on any input.
    package init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        guard bytes.count <= limits.bytes else { throw .tooLong }
        // The parser takes a NUL for the end of the text and would ignore everything after it.
        if let end = bytes.firstIndex(of: 0) { throw .malformed(reason: "NUL byte", offset: end) }
        let extent = JSONExtent(bytes)
        guard extent.depth <= limits.depth else { throw .tooDeep }
        guard extent.values <= limits.values else { throw .tooLong }
        var failure = json_error_t()
        let root = unsafe bytes.withUnsafeBytes { text in
            unsafe cjansson_parse(text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count, &failure)
        }
        guard let root = unsafe root else { throw .malformed(reason: failure.reason, offset: Int(failure.position)) }
        defer { unsafe cjansson_release(root) }
        self = unsafe JSONValue(copying: root)
    }

    /// Copies a value of the library, which stays the caller's.
    ///
    /// The depth was limited before.
    private init(copying value: UnsafeMutablePointer<json_t>) {
        switch unsafe cjansson_typeof(value) {
        case JSON_TRUE: self = .boolean(true)
        case JSON_FALSE: self = .boolean(false)
        case JSON_INTEGER: self = unsafe .integer(json_integer_value(value))
        case JSON_REAL: self = unsafe .real(json_real_value(value))
        case JSON_STRING:
            self = unsafe .string(
                String(copying: json_string_value(value), count: json_string_length(value)))
        case JSON_ARRAY: self = unsafe .array(JSONValue.elements(of: value))
        case JSON_OBJECT: self = unsafe .object(JSONValue.members(of: value))
        default: self = .null
        }
    }

    private static func elements(of array: UnsafeMutablePointer<json_t>) -> [JSONValue] {
        let count = unsafe json_array_size(array)
        return (0..<count).compactMap { index in
            guard let element = unsafe json_array_get(array, index) else { return nil }
            return unsafe JSONValue(copying: element)
        }
    }

    private static func members(of object: UnsafeMutablePointer<json_t>) -> JSONObject {
        var members: [JSONObject.Member] = []
        unsafe members.reserveCapacity(json_object_size(object))
        var cursor = unsafe json_object_iter(object)
        while let here = unsafe cursor {
            if let name = unsafe json_object_iter_key(here), let value = unsafe json_object_iter_value(here) {
                unsafe members.append(.init(name: String(cString: name), value: JSONValue(copying: value)))
            }
            unsafe cursor = json_object_iter_next(object, here)
        }
        return JSONObject(unique: members)
    }
}

extension String {
    /// The bytes that the library owns, copied; it has checked that they are UTF-8.
    fileprivate init(copying start: UnsafePointer<CChar>?, count: Int) {
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
        self = unsafe String(decoding: bytes, as: UTF8.self)
    }
}

extension json_error_t {
    /// The library's message, without the part of the input that it quotes after "near".
    fileprivate var reason: String {
        var text = text
        let whole = unsafe withUnsafeBytes(of: &text) { unsafe Array($0.prefix { $0 != 0 }) }
        let quote = Array(" near '".utf8)
        let end = whole.indices.first { whole[$0...].starts(with: quote) } ?? whole.endIndex
        return String(decoding: whole[..<end], as: UTF8.self)
    }
}
