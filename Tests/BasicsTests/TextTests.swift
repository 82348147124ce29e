import Basics
import Testing

@Suite("Texts are compared by their bytes")
struct TextTests {
    @Test func `Canonically equivalent texts differ`() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed && !composed.isSame(as: decomposed))
        #expect(!composed.isEqualIgnoringCase(to: decomposed))
        #expect(!composed[...].isSame(as: decomposed[...]) && !composed[...].isEqualIgnoringCase(to: decomposed[...]))
    }

    @Test(arguments: 0..<23)
    func `Texts that differ in one byte differ, and a byte is found, wherever it is`(place: Int) {
        let text = String(repeating: "a", count: 23)
        var bytes = Array(text.utf8)
        #expect(String(decoding: bytes, as: UTF8.self).isSame(as: text))
        bytes[place] = UInt8(ascii: "b")
        #expect(!String(decoding: bytes, as: UTF8.self).isSame(as: text))
        let found = [0, place, place + 1].map { bytes.span.next(UInt8(ascii: "b"), from: $0) }
        #expect(found == [place, place, nil])
        #expect(!String(text.dropLast(place + 1)).isSame(as: text))
    }

    @Test func `Only the letters A to Z are folded`() {
        #expect("Bearer".isEqualIgnoringCase(to: "bEARER") && "Bearer"[...].isEqualIgnoringCase(to: "bEARER"[...]))
        #expect(!"@".isEqualIgnoringCase(to: "`") && !"\u{C9}".isEqualIgnoringCase(to: "\u{E9}"))
        #expect(!"a".isEqualIgnoringCase(to: "ab") && "Bearer x".beginsIgnoringCase("bearer "))
        #expect("\u{C9}AZ[".lowercasedASCII == "\u{C9}az[")
    }

    @Test func `Spaces and tabs around a text are taken off, other white space is not`() {
        #expect("\t a b\t "[...].trimmingBlanks == "a b" && "\n"[...].trimmingBlanks == "\n")
        #expect(" \t"[...].trimmingBlanks.isEmpty)
    }

    @Test(arguments: ["", "+1", "-1", " 1", "1 ", "0x1", "\u{661}", "65536"])
    func `A decimal number has digits only`(text: String) {
        #expect(UInt16(decimal: text) == nil)
    }

    @Test func `Bytes that are not UTF-8 are read as Latin-1`() {
        #expect(String(lenient: [0x61, 0xE9]) == "a\u{E9}" && String(lenient: [0xC3, 0xA9]) == "\u{E9}")
        #expect(String(latin1: [0xC3, 0xA9]) == "\u{C3}\u{A9}")
    }

    @Test func `A GUID is read in either case and written in lower case`() {
        let text = "775527FF-9a37-4307-8b3d-cc311f58d925"
        #expect(GUID.canonical(text) == text.lowercasedASCII)
        for other in ["", "775527ff9a3743078b3dcc311f58d925", "{775527ff-9a37-4307-8b3d-cc311f58d925}"] {
            #expect(GUID.canonical(other) == nil)
        }
        #expect(GUID.canonical("g75527ff-9a37-4307-8b3d-cc311f58d925") == nil)
        #expect(GUID.canonical("775527ff09a37-4307-8b3d-cc311f58d925") == nil)
        #expect(GUID.version4(random: Array(repeating: 0xFF, count: 16)) == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        #expect(GUID.version4(random: Array(0..<16)) == "00010203-0405-4607-8809-0a0b0c0d0e0f")
    }

    @Test func `FNV-1a has the values of its authors' test vectors`() {
        #expect(FNV1a(of: "").value == 0xcbf2_9ce4_8422_2325)
        #expect(FNV1a(of: "a").value == 0xaf63_dc4c_8601_ec8c)
        #expect(FNV1a(of: "foobar").value == 0x8594_4171_f739_67e8)
        var hash = FNV1a()
        hash.add("foo")
        hash.add(Array("bar".utf8))
        #expect(hash.value == FNV1a(of: "foobar").value)
    }
}
