import JSON
import Support
import Testing

/// What JSONTestSuite calls `y_` and `n_`, by hand, with what it leaves open (`i_`) decided.
@Suite("JSON is read strictly (RFC 8259; V-20, V-148)")
struct StrictReadingTests {
    private func read(_ text: String) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    private func isRefused(_ bytes: [UInt8]) -> Bool { (try? JSONValue(parsing: bytes)) == nil }

    @Test(
        arguments: [
            ("null", .null), (" true ", true), ("\t\r\n false", false), ("\"\"", ""), ("[]", []), ("{}", [:]),
            ("0", 0), ("-0", 0), ("-1", -1), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), ("0.5", .real(0.5)), ("-0.0", .real(-0.0)), ("1e2", .real(100)),
            ("1E+2", .real(100)), ("1.5e-1", .real(0.15)), ("1.0", .real(1)),
            ("9007199254740993", 9_007_199_254_740_993),
            ("[1,[2],{\"a\":3}]", [1, [2], ["a": 3]]), ("[ 1 , 2 ]", [1, 2]), ("{\"\":0}", ["": 0]),
            ("{\"a\":1,\"A\":2}", ["a": 1, "A": 2]), ("[\"a\",\"a\"]", ["a", "a"]),
        ] as [(String, JSONValue)])
    func `Valid JSON is read`(text: String, value: JSONValue) throws {
        #expect(try read(text) == value)
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "A\u{E9}\u{20AC}"),
        (#""\ud83d\ude00""#, "\u{1F600}"),
        ("\"\u{1F600}\u{7F}\u{2028}\u{FFFF}\"", "\u{1F600}\u{7F}\u{2028}\u{FFFF}"),
        (#""\u0000a""#, "\0a"), (#""\u005C\u0022""#, "\\\""), ("\"\u{FEFF}\"", "\u{FEFF}"),
        (#""a\u0301""#, "a\u{301}"),
    ])
    func `Strings are read`(text: String, value: String) throws {
        let string = try #require(try read(text).string)
        #expect(Array(string.utf8) == Array(value.utf8))
    }

    @Test(arguments: [
        // Nothing, or something after the value
        "", " ", "[] x", "{}{}", "1 2", "null\0", "{}\0", "{}\0{}", "\0", "[\0]", "[1\0,2]", "[]]", "{}}", "[1],",
        "true//", "1;",
        // Broken structures
        "[", "]", "{", "}", "[1", "[1,", "[,1]", "[1,]", "[1,,2]", "[1 2]", "[1:2]", "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{,}", "{\"a\" 1}", "{\"a\"::1}", "{\"a\":1 \"b\":2}", "{a:1}", "{'a':1}", "{1:1}",
        "{null:1}", "{\"a\":1", "{\"a\":[}", "[{]}", "{[1]:2}",
        // Comments and other dialects
        "/**/1", "[1/**/]", "[1]//x", "#x\n1", "[1] # x", "undefined", "None", "True", "NULL", "nul", "truee",
        // Numbers
        "01", "-01", "+1", "-", "--1", ".5", "-.5", "1.", "1.e1", "1e", "1e+", "0e", "1eE2", "0x10", "0b1",
        "1_000", "1,5", "1 000", "NaN", "-NaN", "Infinity", "-Infinity", "1e400", "-1e400",
        "9223372036854775808", "-9223372036854775809", "\u{FF11}",
        // Strings
        "\"", "\"a", "a\"", "'a'", "\"\\\"", "\"\\x41\"", "\"\\a\"", "\"\\u\"", "\"\\u00\"", "\"\\u00g0\"",
        "\"\\U0041\"", "\"a\nb\"", "\"a\tb\"", "\"a\u{1F}b\"", "\"a\0b\"", "\"\\\n\"",
        // Lone surrogates
        "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\ud800\"", "\"\\udc00\\ud800\"", "\"\\ud800a\"", "\"\\ud800\\n\"",
        "{\"\\ud800\":1}",
        // White space that JSON does not know
        "\u{B}1", "\u{C}1", "\u{A0}1", "[1,\u{2028}2]", "\u{FEFF}\u{FEFF}1", " \u{FEFF}{}", "\u{FEFF}",
    ])
    func `Malformed JSON is refused`(text: String) {
        #expect(isRefused(Array(text.utf8)))
    }

    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":1}"#, #"{"a":1,"b":2,"a":3}"#, #"[{"x":{"a":1,"a":1}}]"#,
        #"{"":1,"":2}"#,
        #"{"\/":1,"/":2}"#,
    ])
    func `Repeated names are refused, also when one is escaped`(text: String) {
        #expect(isRefused(Array(text.utf8)))
    }

    @Test(arguments: [2, 3, 32, 33, 300])
    func `A repeated name is found among few and among many`(count: Int) throws {
        func object(_ names: [String]) -> [UInt8] {
            Array("{\(names.map { "\"\($0)\":1" }.joined(separator: ","))}".utf8)
        }
        let names = (0..<count).map { "name-\($0)" }
        #expect(try JSONValue(parsing: object(names)).object?.members.count == count)
        #expect(isRefused(object(names.dropLast() + [names[0]])))
        #expect(isRefused(object(names.dropLast() + ["\\u006eame-0"])))
    }

    @Test(arguments: 0..<20)
    func `What ends a string or is not allowed in it is found at every place`(place: Int) throws {
        let before = String(repeating: "~", count: place)
        for (inside, value) in [
            ("", ""), (#"\""#, "\""), (#"\\"#, "\\"), ("\u{E9}", "\u{E9}"), ("\u{7F} !#[]", "\u{7F} !#[]"),
        ] {
            for after in ["", "abc", "abcdefghijklmnop"] {
                #expect(try read("\"\(before)\(inside)\(after)\"").string == before + value + after)
            }
        }
        for bad in ["\u{1F}", "\0", "\n", #"\x"#, #"\u12g4"#] {
            #expect(isRefused(Array("\"\(before)\(bad)abcdefgh\"".utf8)))
        }
        #expect(isRefused(Array("\"\(before)".utf8) + [0xC3, 0x28] + Array("abcdefgh\"".utf8)))
        #expect(isRefused(Array("\"\(before)".utf8)))
    }

    @Test(
        arguments: [
            ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("999999999999999999", 999_999_999_999_999_999),
            ("-999999999999999999", -999_999_999_999_999_999), ("1000000000000000000", 1_000_000_000_000_000_000),
        ] as [(String, Int64)])
    func `Integers of 19 digits are read if they fit`(text: String, number: Int64) throws {
        #expect(try read(text) == .integer(number))
        #expect(isRefused(Array("\(text)0".utf8)))
    }

    @Test func `Canonically equivalent names are different`() throws {
        let object = try #require(try read("{\"\u{E9}\":1,\"e\u{301}\":2}").object)
        #expect(object.members.count == 2)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
    }

    /// A name with U+0000 cannot be kept, so it is refused: better than one cut short.
    @Test func `A NUL character in a name is refused`() {
        #expect(isRefused(Array(#"{"a\u0000b":1}"#.utf8)))
    }

    @Test(
        arguments: [
            [0xFF], [0x80], [0xC3], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xE2, 0x82], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0xAF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0xC3, 0x28], [0xE9],
        ] as [[UInt8]])
    func `Invalid UTF-8 is refused`(bytes: [UInt8]) {
        #expect(isRefused([0x22] + bytes + [0x22]))
        #expect(isRefused(Array("{\"".utf8) + bytes + Array("\":1}".utf8)))
        #expect(isRefused(bytes))
    }

    @Test func `Other encodings are refused`() {
        let text = Array("{\"a\":1}".utf8)
        #expect(isRefused(text.flatMap { [$0, 0] }))
        #expect(isRefused(text.flatMap { [0, $0] }))
        #expect(isRefused([0xFF, 0xFE] + text.flatMap { [$0, 0] }))
        #expect(isRefused([0xFE, 0xFF] + text.flatMap { [0, $0] }))
        #expect(isRefused(text.flatMap { [$0, 0, 0, 0] }))
    }

    @Test func `Reasons quote nothing of the input`() {
        let secret = "c2VjcmV0"
        #expect {
            try read("{\"a\": \(secret)}")
        } throws: { error in
            guard case .malformed(let reason, let offset)? = error as? JSONError else { return false }
            return !reason.contains(secret) && !reason.isEmpty && offset > 0
        }
    }
}
