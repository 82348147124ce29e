import Basics
import Testing

@Suite("Bytes that are appended piece by piece", .timeLimit(.minutes(15))) struct ByteWriterTests {
    private static func text(_ write: (inout ByteWriter) -> Void) -> String {
        // Room for one byte, so that every piece makes it grow.
        var writer = ByteWriter(capacity: 1)
        write(&writer)
        var bytes: [UInt8] = []
        writer.copy(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [0, 9, 10, 99, 100, -1, -10, 1_234_567_890, .max, .min, Int.max - 1] as [Int])
    func `A number is written as Swift writes it`(number: Int) {
        #expect(Self.text { $0.append(decimal: number) } == "\(number)")
    }

    @Test func `Numbers of every length are written as Swift writes them`() {
        // 9, 98, 988, and so on.
        let lengths = (0..<18).map { length in (0..<length).reduce(9) { number, _ in 10 * number + 8 } }
        for number in Array(0...1100) + lengths {
            #expect(Self.text { $0.append(decimal: number) } == "\(number)")
        }
    }

    @Test(
        arguments: [
            (0, "0000000000000000"), (0x0123_4567_89AB_CDEF, "0123456789abcdef"), (0xFE, "00000000000000fe"),
            (.max, "ffffffffffffffff"),
        ] as [(UInt64, String)])
    func `Hexadecimal digits are always sixteen`(number: UInt64, digits: String) {
        #expect(Self.text { $0.append(hexadecimal: number) } == digits)
    }

    @Test func `Pieces keep their order, and what was written before growing stays`() {
        let written = Self.text { writer in
            for piece in 0..<50 {
                writer.append("piece ")
                writer.append(decimal: piece)
                writer.append(UInt8(ascii: ";"))
                writer.append("\u{1B}é".utf8.span)
            }
            writer.append(asciiOnly: "\u{1B}\"é".utf8.span, escape: .json)
        }
        let expected = (0..<50).map { "piece \($0);\u{1B}é" }.joined() + #"\u001b\"\u00c3\u00a9"#
        #expect(written == expected)
    }
}
