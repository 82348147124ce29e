import Basics
import JSON

/// Accepted text is written and read again without loss, and the limits hold.
func checkJSON(_ input: [UInt8]) throws {
    try checkLimits(input)
    try checkMembers(input)
    guard let value = try? JSONValue(parsing: input) else { return }
    var grammar = JSONGrammar(Array(input.withoutByteOrderMark))
    try require(grammar.isText, "what is accepted is JSON by RFC 8259")
    let written = value.serialized()
    guard let again = try? JSONValue(parsing: written, limits: JSONLimits(bytes: .max, depth: 32)) else {
        throw BrokenInvariant(description: "what is written can be read")
    }
    // Bytes, not values: `==` of strings would fold some.
    try require(again.serialized() == written, "what is read again is the same")
    try require(value.depth <= 32, "the depth is limited")
}

private func checkLimits(_ input: [UInt8]) throws {
    let limits = JSONLimits(bytes: 200, depth: 3)
    guard let value = try? JSONValue(parsing: input, limits: limits) else { return }
    try require(input.count <= limits.bytes, "the length is limited")
    try require(value.depth <= limits.depth, "the depth is limited to what was asked")
}

/// The reading of members one by one takes the same texts, and finds the same in them.
private func checkMembers(_ input: [UInt8]) throws {
    // Members are those of a token, which begins with no byte-order mark.
    guard input.withoutByteOrderMark.count == input.count else { return }
    let object = try? JSONValue(parsing: input).object
    let members = try? JSONMembers(parsing: input, limits: JSONLimits(), most: .max)
    try require((object == nil) == (members == nil), "both ways of reading take the same objects")
    guard let object, let members else { return }
    try require(
        members.names.elementsEqual(object.members) { $0.utf8.elementsEqual($1.name.utf8) }, "both find the same names")
    for name in members.names {
        try require(members[name]?.serialized() == object[name]?.serialized(), "both find the same values")
    }
    try require(!members.contains("\u{1}no such name"), "what is not there is not found")
}

extension JSONValue {
    /// How deep arrays and objects nest.
    fileprivate var depth: Int {
        switch self {
        case .null, .boolean, .integer, .real, .string: 0
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .object(let object): 1 + (object.members.map(\.value.depth).max() ?? 0)
        }
    }
}

/// A second reading of the grammar of RFC 8259, written without the first: it only says yes or no.
private struct JSONGrammar {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isText: Bool {
        mutating get {
            guard String(validating: bytes, as: UTF8.self) != nil else { return false }
            return value() && place == bytes.count
        }
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { place += 1 }
    }

    private mutating func value() -> Bool {
        skipBlanks()
        defer { skipBlanks() }
        return switch next {
        case UInt8(ascii: "{"): list("{", "}") { $0.member() }
        case UInt8(ascii: "["): list("[", "]") { $0.value() }
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "t"): word("true")
        case UInt8(ascii: "f"): word("false")
        case UInt8(ascii: "n"): word("null")
        default: number()
        }
    }

    private mutating func list(
        _ start: Unicode.Scalar, _ end: Unicode.Scalar, _ element: (inout JSONGrammar) -> Bool
    ) -> Bool {
        guard take(start) else { return false }
        skipBlanks()
        if take(end) { return true }
        repeat { guard element(&self) else { return false } } while take(",")
        return take(end)
    }

    private mutating func member() -> Bool {
        skipBlanks()
        guard string() else { return false }
        skipBlanks()
        return take(":") && value()
    }

    private mutating func word(_ word: String) -> Bool { word.unicodeScalars.allSatisfy { take($0) } }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { return false }
            place += 1
            if byte == UInt8(ascii: "\\") {
                guard let kind = next, "\"\\/bfnrtu".utf8.contains(kind) else { return false }
                place += 1
                if kind == UInt8(ascii: "u") { guard hexadecimal(4) else { return false } }
            }
        }
        return take("\"")
    }

    private mutating func hexadecimal(_ count: Int) -> Bool {
        for _ in 0..<count {
            guard let byte = next, "0123456789abcdefABCDEF".utf8.contains(byte) else { return false }
            place += 1
        }
        return true
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0") { guard digits() else { return false } }
        if take(".") { guard digits() else { return false } }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard digits() else { return false }
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = place
        while let byte = next, (0x30...0x39).contains(byte) { place += 1 }
        return place > start
    }
}
