import Basics
import HTTP
import Support
import Testing

@Suite("Field values are read as RFC 9110 writes them")
struct FieldTests {
    @Test(arguments: [
        ["*"], [" * "], ["\"a\""], ["W/\"a\""], ["W/\"b\", \"a\""], ["\"b\"", "\"a\""], ["\"a\"", "\"b\"", ""],
        [",\"a\",,"], ["\"\" \t, \"a\""], ["\"b,\",\"a\""], ["\"\u{e4}!\",\"a\""],
    ])
    func `A client has a state whose tag it names`(values: [String]) {
        #expect(HeaderSection(values.map { .init(name: "if-none-match", value: $0) }).ifNoneMatch("\"a\""))
    }

    @Test(arguments: [
        [], [""], [","], ["a"], ["\"a"], ["a\""], ["w/\"a\""], ["\"a\"x"], ["\"a\"\"b\""],
        ["*x"], ["**"], ["\"A\""], ["W/"], ["W"], ["\"\""], ["\"a\" \"b\""], ["W/\"b\"\t\"a\""], ["* *"],
        ["\"a\" x"], ["\"aa\""], ["\"a,b\""], ["\"b\""], ["W/\"b\""],
    ])
    func `A condition with other tags, or with malformed ones, is none`(values: [String]) {
        #expect(!HeaderSection(values.map { .init(name: "If-None-Match", value: $0) }).ifNoneMatch("\"a\""))
    }

    @Test(arguments: [
        ("\"7.1-gzip\"", "gzip", true), ("\"7.1--gzip\"", "br, gzip;q=0.5", true), ("\"7.1\"-zstd", "zstd", true),
        ("W/\"7.1;br\"", "br", true), ("\"7.1-gzip\"", "gzip;q=0", false), ("\"7.1-gzip\"", "br", false),
        ("\"7.1-gzip\"", nil, false), ("\"7.12-gzip\"", "gzip", false), ("\"7.1gzip\"", "gzip", false),
        ("\"7.1-x-gzip\"", "gzip", false), ("\"7.1-\"", "", false), ("\"7.1", "", false), ("\"7.", "", false),
    ])
    func `A tag with a coding that a proxy added counts for clients that accept it`(
        tag: String, accepted: String?, counts: Bool
    ) {
        var fields = [HeaderSection.Field(name: "If-None-Match", value: tag)]
        if let accepted { fields.append(.init(name: "Accept-Encoding", value: accepted)) }
        #expect(HeaderSection(fields).ifNoneMatch("\"7.1\"") == counts)
    }

    @Test func `Names of fields are compared without case; order and duplicates are kept`() {
        let headers: HeaderSection = ["A": "1", "b": "2", "a": "3"]
        #expect(headers["a"] == "1")
        #expect(headers.values("A") == ["1", "3"])
        #expect(headers.fields.map(\.name) == ["A", "b", "a"])
        #expect(!"é".isEqualIgnoringCase(to: "e\u{301}"))
        #expect(!"@".isEqualIgnoringCase(to: "`"))
    }

    @Test func `The lines of an answer are written once, found without case, replaced and joined`() {
        var lines: FieldLines = ["A": "1", "b": "2: 3", "a": "4", "AB": "5"]
        #expect(lines["a"] == "1")
        #expect(lines.values("A") == ["1", "4"])
        #expect(lines.values("B") == ["2: 3"])
        #expect(!lines.contains("") && lines.contains("ab"))
        lines.set("A", "é")
        #expect(Array("b: 2: 3\r\nAB: 5\r\nA: é\r\n".utf8) == lines.bytes)
        lines.append(["c": "d"])
        lines.remove("ab")
        #expect(lines == ["b": "2: 3", "A": "é", "c": "d"])
        #expect(FieldLines(reserving: 100) == [:])
    }

    @Test(
        "What would break out of its line, and what only the server knows, is left out of an answer",
        arguments: [
            ("A", "1\r\nB: 2"), ("A", "1\n"), ("A", "\r"), ("A", "1\0"), ("A", ""), ("", "1"), ("A B", "1"),
            ("A:", "1"), ("A\r\nB", "1"), ("A\t", "1"), ("date", "1"), ("CONNECTION", "close"),
            ("Content-length", "7"), ("Transfer-Encoding", "chunked"),
        ])
    func brokenLines(name: String, value: String) {
        var lines: FieldLines = ["X": "1"]
        lines.append(name, value)
        lines.append("Dates", "2\t3")
        #expect(lines.bytes == Array("X: 1\r\nDates: 2\t3\r\n".utf8))
    }

    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (.min, "Sun, 27 Jan -292277022657 08:29:52 GMT"),
        ] as [(Int64, String)])
    func `Dates are written as RFC 9110 asks`(seconds: Int64, text: String) {
        #expect(HTTPDate.text(unixSeconds: seconds) == text)
    }
}
