import JSON
import Support
import Testing

@Suite("Reading JSON has limits")
struct LimitTests {
    private func nested(_ depth: Int) -> [UInt8] {
        Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }

    @Test func `The limit of depth is exact`() throws {
        let limits = JSONLimits(depth: 16)
        #expect(throws: Never.self) { try JSONValue(parsing: nested(16), limits: limits) }
        #expect(throws: JSONError.tooDeep) { try JSONValue(parsing: nested(17), limits: limits) }
        let objects = Array((String(repeating: "{\"a\":", count: 17) + "1" + String(repeating: "}", count: 17)).utf8)
        #expect(throws: JSONError.tooDeep) { try JSONValue(parsing: objects, limits: limits) }
    }

    @Test func `Brackets in strings do not count`() throws {
        let text = "[\"" + String(repeating: "[{\\\"", count: 100) + "\"]"
        let value = try JSONValue(parsing: Array(text.utf8), limits: JSONLimits(depth: 1))
        #expect(value.array?.first?.string?.utf8.count == 300)
    }

    /// A hundred thousand open brackets would end the stack of a parser that recurses.
    @Test func `A million brackets are refused without recursion`() {
        let open = [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)
        #expect(throws: JSONError.tooDeep) { try JSONValue(parsing: open) }
        // Closing ones first do not buy room for more.
        let hidden = [UInt8](repeating: UInt8(ascii: "]"), count: 1 << 19) + open.prefix(1 << 19)
        #expect(throws: JSONError.self) { try JSONValue(parsing: hidden) }
    }

    @Test func `The limit of values is exact`() throws {
        let limits = JSONLimits(values: 4)
        #expect(throws: Never.self) { try JSONValue(parsing: Array(#"{"a":[1,"2,[{"]}"#.utf8), limits: limits) }
        for text in [#"{"a":[1,2],"b":3}"#, "[1,2,3,4]", "[[[[]]]]", "[1,2,3,4"] {
            #expect(throws: JSONError.tooLong) { try JSONValue(parsing: Array(text.utf8), limits: limits) }
        }
    }

    @Test func `The limit of length is exact`() throws {
        let text = Array("[1, 2]".utf8)
        #expect(try JSONValue(parsing: text, limits: JSONLimits(bytes: 6)) == [1, 2])
        #expect(throws: JSONError.tooLong) { try JSONValue(parsing: text, limits: JSONLimits(bytes: 5)) }
    }
}
