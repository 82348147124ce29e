import HTTP
import Testing

@Suite("A target is split before it is decoded (V-144)")
struct RequestTargetTests {
    @Test(arguments: [
        ("/", []), ("//", []), ("/a", ["a"]), ("/a/", ["a"]), ("//a///b/", ["a", "b"]), ("/a%20b", ["a b"]),
        ("/a+b", ["a+b"]), ("/%C3%A4", ["ä"]), ("/%c3%a4", ["ä"]), ("/api/tasks:7", ["api", "tasks:7"]),
        ("/a%3Fb%23c", ["a?b#c"]), ("/...", ["..."]), ("/.a", [".a"]), ("/a%0Ab", ["a\nb"]), ("*", []),
        ("/%25%32%46", ["%2F"]), ("/a?b/c", ["a"]),
    ])
    func `Paths are split before they are decoded`(raw: String, path: [String]) throws {
        let target = try RequestTarget(parsing: raw)
        #expect(target.path == path)
        #expect(target.raw == raw)
    }

    @Test(arguments: [
        ("/", []), ("/?", []), ("/?a", ["a="]), ("/?a=1&b=2&a=3", ["a=1", "b=2", "a=3"]), ("/?a=b=c", ["a=b=c"]),
        ("/?a=1+2%2B3", ["a=1 2+3"]), ("/?&&a=1&", ["a=1"]), ("/?=x", ["=x"]), ("/?a=/b?c", ["a=/b?c"]),
        ("/?t=%C3%A4", ["t=ä"]), ("/?t=%E4", ["t=ä"]), ("/?a%3Db=c%26d", ["a=b=c&d"]), ("/?a=%0A", ["a=\n"]),
        ("/?%2F=..", ["/=.."]),
    ])
    func `Queries are split before they are decoded`(raw: String, query: [String]) throws {
        #expect(try RequestTarget(parsing: raw).query.map { "\($0.name)=\($0.value)" } == query)
    }

    @Test(arguments: [
        "", "a", "?a", "ftp://h/a", "http:/h", "**", "/a b", "/a#b", "/a\u{1}", "/a\u{7F}", "/ä", "/?ä", "/%",
        "/%2",
        "/%zz", "/?%4", "/?a=%G0", "/%00", "/?a=%00", "/a%2Fb", "/%2f", "/a/../b", "/.", "/%2e%2E", "/.%2e/",
        "/%ff",
        "/%C3", "/%C0%AF", "/%ED%A0%80", "http://h/a",
    ])
    func `Malformed targets are refused`(raw: String) {
        #expect(throws: HTTPFault.target) { try RequestTarget(parsing: raw) }
    }

    @Test func `The absolute form must name the host of the request`() throws {
        for raw in ["http://h:1/a?b", "HTTPS://H:1/a?b"] {
            let target = try RequestTarget(parsing: raw, host: "h:1")
            #expect(target.path == ["a"])
            #expect(target["b"] == "")
        }
        #expect(try RequestTarget(parsing: "http://h", host: "h").path == [])
        #expect(try RequestTarget(parsing: "http://h?x=1", host: "h")["x"] == "1")
        for raw in ["http://other/a", "http://h@other/a", "http://h:2/a", "http:///a"] {
            #expect(throws: HTTPFault.target) { try RequestTarget(parsing: raw, host: "h") }
        }
    }
}
