import Basics
import HTTP
import Support

/// A request as text: a request line, field lines, an empty line, a body.
///
/// Lines end with a line feed.
struct FuzzRequest {
    let head: RequestHead
    let body: [UInt8]

    /// Nothing where no server would hand it to its handler.
    init?(_ text: [UInt8]) {
        var rest = text[...]
        let words = Self.line(&rest).split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard words.count == 2, words[0].allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let raw = String(decoding: words[1], as: UTF8.self)
        guard let target = try? RequestTarget(parsing: raw, host: "127.0.0.1:3001") else { return nil }
        var fields: [HeaderSection.Field] = []
        while case let line = Self.line(&rest), !line.isEmpty {
            guard let field = Self.field(line) else { return nil }
            fields.append(field)
        }
        head = RequestHead(
            method: Method(String(decoding: words[0], as: UTF8.self)), target: target, headers: HeaderSection(fields))
        body = Array(rest)
    }

    private static func line(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest[line.endIndex...].dropFirst()
        return line
    }

    private static func field(_ line: ArraySlice<UInt8>) -> HeaderSection.Field? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return nil }
        // As libmicrohttpd hands values over: without blanks around, NUL and CR, as the bytes that came.
        let value = line[colon...].dropFirst().drop(while: \.isBlank)
        guard !value.contains(where: { $0 == 0 || $0 == 13 }), line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return HeaderSection.Field(
            name: String(decoding: line[..<colon], as: UTF8.self), value: String(decoding: value, as: UTF8.self))
    }
}

extension Response {
    /// Whether a server can send it: a status of three digits, and fields of one line each.
    func checkSendable() throws {
        try require((200...999).contains(status.rawValue), "a status has three digits, not \(status.rawValue)")
        let lines = headers.bytes.split(separator: 10, omittingEmptySubsequences: false)
        for line in lines.dropLast() {
            try require(line.last == 13 && line.count { [0, 13].contains($0) } == 1, "a field is one line: \(line)")
        }
        try require(lines.last?.isEmpty != false, "the last line has its end")
    }
}
