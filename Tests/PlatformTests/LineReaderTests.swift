import Glibc
import Platform
import Testing

@Suite("A stream is read line by line", .timeLimit(.minutes(15)))
struct LineReaderTests {
    private static func lines(of bytes: [UInt8]) throws -> [[UInt8]] {
        let path = "/tmp/lines-\(getpid())-\(UInt64.random(in: 0...(.max)))"
        try File.replace(path, with: bytes)
        defer { File.remove(path) }
        var reader = try LineReader(path: path)
        var lines: [[UInt8]] = []
        while let line = try reader.next() { lines.append(line) }
        return lines
    }

    @Test(arguments: [
        ("", []), ("one", ["one"]), ("one\n", ["one"]), ("one\ntwo", ["one", "two"]), ("\n\n", ["", ""]),
        ("one\r\ntwo\r\n", ["one", "two"]), ("\r\n", [""]), ("\u{FEFF}one\n\u{FEFF}two", ["one", "\u{FEFF}two"]),
        ("\u{FEFF}", [""]),
    ])
    func `Lines have no line ends, and the first no byte-order mark`(text: String, expected: [String]) throws {
        #expect(try Self.lines(of: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test func `Lines are whole, wherever the system cuts the stream`() throws {
        let lines = (0..<5).map { [UInt8](repeating: UInt8(ascii: "a") + $0, count: 50_000 + Int($0)) }
        #expect(try Self.lines(of: Array(lines.joined(separator: [UInt8(ascii: "\n")]))) == lines)
    }

    @Test func `A line over the limit is refused`() {
        #expect(throws: SystemError.self) { try Self.lines(of: [UInt8](repeating: 1, count: 2_000_000)) }
    }
}
