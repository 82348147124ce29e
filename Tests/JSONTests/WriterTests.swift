import JSON
import Support
import Testing

@Suite("JSON is written")
struct WriterTests {
    private func text(_ value: JSONValue) -> String {
        String(decoding: value.serialized(), as: UTF8.self)
    }

    @Test(
        arguments: [
            (.null, "null"), (true, "true"), (false, "false"), (0, "0"), (.integer(.min), "-9223372036854775808"),
            (.real(0.5), "0.5"), (.real(.nan), "null"), (.real(.infinity), "null"), ("", "\"\""), ([], "[]"),
            ([:], "{}"),
            (["b": 1, "a": [true, .null]], #"{"b":1,"a":[true,null]}"#),
        ] as [(JSONValue, String)])
    func `A value is one line with its members in order`(value: JSONValue, expected: String) {
        #expect(text(value) == expected)
    }

    /// RFC 8259 section 7: quotation mark, reverse solidus, and U+0000 to U+001F, nothing else.
    @Test func `Only what RFC 8259 requires is escaped`() {
        #expect(text("\"\\/\u{8}\t\n\u{C}\r") == #""\"\\/\b\t\n\f\r""#)
        #expect(text("\0\u{1F}\u{7F}\u{E9}\u{2028}\u{1F600}") == "\"\\u0000\\u001f\u{7F}\u{E9}\u{2028}\u{1F600}\"")
        #expect(text(["\"\n": 1]) == #"{"\"\n":1}"#)
    }

    @Test func `Every character is read as it was written`() throws {
        let scalars = [0...0xD7FF, 0xE000...0x1_0FFF, 0x10_FF00...0x10_FFFF].joined().compactMap(UnicodeScalar.init)
        let string = String(String.UnicodeScalarView(scalars))
        let read = try #require(try JSONValue(parsing: JSONValue.string(string).serialized()).string)
        #expect(Array(read.utf8) == Array(string.utf8))
    }

    @Test func `Values are read as they were written`() throws {
        let value: JSONValue = [
            "integer": .integer(.max), "real": .real(1e21), "small": .real(.leastNonzeroMagnitude),
            "third": .real(1.0 / 3),
            "large": .real(.greatestFiniteMagnitude), "list": [[], [:], "", .null, -1], "e\u{301}": "\u{E9}",
        ]
        #expect(try JSONValue(parsing: value.serialized()) == value)
    }

    @Test func `A value is appended to what is there`() {
        var bytes = Array("[".utf8)
        JSONValue.object(["a": -7, "b": true, "c": "x\"y"]).append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == #"[{"a":-7,"b":true,"c":"x\"y"}"#)
    }
}
