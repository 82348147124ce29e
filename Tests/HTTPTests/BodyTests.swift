import HTTP
import Support
import Testing

extension MultipartForm {
    fileprivate subscript(name: String) -> Part? { parts.first { $0.name == name } }
}

@Suite("Bodies of forms are read byte for byte")
struct BodyTests {
    @Test(
        "Media types are read with their parameters",
        arguments: [
            ("application/json", "application/json", nil, nil),
            ("Application/JSON; Charset=UTF-8", "application/json", "utf-8", nil),
            (" text/plain ;charset=\"ISO-8859-1\"", "text/plain", "iso-8859-1", nil),
            ("multipart/form-data; boundary=----x", "multipart/form-data", nil, "----x"),
            ("multipart/form-data; boundary=\"a; b\\\"c\"; charset=x", "multipart/form-data", "x", "a; b\"c"),
            ("a/b; =x; charset=y", "a/b", nil, nil), ("a/b; boundary=\"open", "a/b", nil, nil),
            ("a/b;;; charset = y ", "a/b", "y", nil),
        ] as [(String, String, String?, String?)])
    func mediaTypes(field: String, name: String, charset: String?, boundary: String?) throws {
        let type = try #require(MediaType(field))
        #expect(type.name == name)
        #expect(type.charset == charset)
        #expect(type.boundary == boundary)
    }

    @Test(arguments: ["", "json", "/", "a/", "/b", "a/b/c", "a b/c", "ä/b", ";a/b", "*"])
    func `Other texts are no media types`(field: String) { #expect(MediaType(field) == nil) }

    @Test func `Fields of a form are decoded`() throws {
        let form = try FormURLEncoded.parse(Array("task=a+b%20c&Text=%C3%A4&Text=2&empty=&l=%E4&n=%00".utf8))
        #expect(form.fields["task"] == "a b c")
        #expect(form.fields["Text"] == "ä")
        #expect(form.fields["empty"] == "")
        #expect(form.fields["text"] == nil)
        #expect(form.fields["l"] == "ä")
        #expect(form.fields["n"] == "\u{0}")
        #expect(form.fields.count == 6)
        #expect(try FormURLEncoded.parse([]).fields.isEmpty)
        #expect(throws: FormError.malformed) { try FormURLEncoded.parse(Array("a=%4".utf8)) }
    }

    @Test func `A form has 100 fields, a query 100 arguments, a field 16 parameters`() throws {
        let hundred = String(repeating: "a=b&", count: 100)
        #expect(try FormURLEncoded.parse(Array(hundred.utf8)).fields.count == 100)
        #expect(try FormURLEncoded.parse(Array("&&\(hundred)&&&".utf8)).fields.count == 100)
        #expect(throws: FormError.tooMany) { try FormURLEncoded.parse(Array("\(hundred)c".utf8)) }
        #expect(try RequestTarget(parsing: "/?\(hundred)").query.count == 100)
        #expect(throws: HTTPFault.target) { try RequestTarget(parsing: "/?\(hundred)c") }
        let parameters = (1...17).map { "p\($0)=v" }.joined(separator: ";")
        #expect(MediaType("a/b;\(parameters);boundary=x")?.boundary == nil)
        #expect(MediaType("a/b;boundary=x;\(parameters)")?.boundary == "x")
    }

    private func parse(_ body: String, boundary: String = "--x") throws -> MultipartForm {
        try MultipartForm.parse(Array(body.utf8), boundary: boundary)
    }

    @Test func `Parts of a multipart form are read`() throws {
        let form = try parse(
            "----x\r\nContent-Disposition: form-data; name=\"task\"\r\n\r\na\r\n--b\r\n----\r\n"
                + "----x\r\ncontent-disposition: form-data; NAME=plain; filename=\"f\"\r\n"
                + "Content-Type: text/plain; charset=utf-8\r\n\r\n\r\n----x--\r\nepilogue")
        #expect(form.parts.count == 2)
        #expect(form["task"]?.text == "a\r\n--b\r\n----")
        #expect(form["plain"]?.value == [])
        #expect(form["plain"]?.contentType?.charset == "utf-8")
        #expect(try parse("preamble\r\n----x--").parts.isEmpty)
        #expect(try parse("----x--").parts.isEmpty)
    }

    @Test func `A value that is not UTF-8 keeps its bytes, and reads as Latin-1`() throws {
        let head = "--b\r\nContent-Disposition: form-data; name=t\r\n\r\n"
        let value: [UInt8] = [0xE4, 0x00, 0x0D, 0x0A, 0x2D, 0xFF]
        let form = try MultipartForm.parse(Array(head.utf8) + value + Array("\r\n--b--".utf8), boundary: "b")
        #expect(form["t"]?.value == value)
        #expect(form["t"]?.text == "ä\u{0}\r\n-ÿ")
        let latin =
            "--b\r\nContent-Disposition: form-data; name=t\r\nContent-Type: text/plain; charset=ISO-8859-1\r\n\r\n"
        let declared = try MultipartForm.parse(Array((latin + "ä\r\n--b--").utf8), boundary: "b")
        #expect(declared["t"]?.text == "Ã¤")
    }

    @Test(arguments: [
        "", "----x", "----y--", "----xy\r\n", "----x\r\n", "----x\r\nA: b\r\n\r\nno end",
        "----x\r\nA: b\r\n\r\nv\r\n----x--", "----x\r\nno colon\r\n\r\nv\r\n----x--",
        "----x\r\nA: b\rc\r\n\r\nv\r\n----x--",
        "----x\r\nContent-Disposition: form-data; name=a\r\n\r\nv\n----x--",
    ])
    func `Malformed multipart forms are refused`(body: String) {
        #expect(throws: FormError.malformed) { try parse(body) }
    }

    @Test func `A malformed boundary, too many parts and an endless header are refused`() throws {
        #expect(throws: FormError.malformed) { try parse("", boundary: "") }
        #expect(throws: FormError.malformed) { try parse("", boundary: String(repeating: "-", count: 71)) }
        #expect(throws: FormError.malformed) { try parse("", boundary: "a\r\nb") }
        let part = "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nv\r\n"
        #expect(try parse(String(repeating: part, count: 64) + "--x--", boundary: "x").parts.count == 64)
        #expect(throws: FormError.tooMany) {
            try parse(String(repeating: part, count: 65) + "--x--", boundary: "x")
        }
        #expect(throws: FormError.malformed) {
            try parse("--x\r\nA: " + String(repeating: "b", count: 3000) + "\r\n\r\n\r\n--x--", boundary: "x")
        }
        #expect(throws: FormError.malformed) {
            try parse("--x\r\n" + String(repeating: "A: b\r\n", count: 17) + "\r\n\r\n--x--", boundary: "x")
        }
    }

    @Test func `Cost grows with the length, not with its square`() {
        let dashes = String(repeating: "-", count: 70)
        let hostile = String(repeating: "\r\n--" + dashes.dropLast(), count: 4000)
        let body = Array(("--\(dashes)\r\nContent-Disposition: form-data; name=a\r\n\r\n" + hostile).utf8)
        let time = processorTime { #expect(throws: FormError.malformed) { try parse(body, dashes) } }
        #expect(time < .seconds(3))
    }

    private func parse(_ body: [UInt8], _ boundary: String) throws -> MultipartForm {
        try MultipartForm.parse(body, boundary: boundary)
    }
}
