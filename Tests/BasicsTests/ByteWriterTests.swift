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

    @Test(arguments: [0, 9, 10, 99, 100, -1, -10, 1_234_567_890, .max, .min] as [Int])
    func `A number is written as Swift writes it`(number: Int) {
        #expect(Self.text { $0.append(decimal: number) } == "\(number)")
    }

    @Test func `Hexadecimal digits are always sixteen`() {
        #expect(Self.text { $0.append(hexadecimal: 0x0123_4567_89AB_CDEF) } == "0123456789abcdef")
        #expect(Self.text { $0.append(hexadecimal: 0xFE) } == "00000000000000fe")
    }

    @Test func `Pieces keep their order, and what was written before growing stays`() {
        let written = Self.text { writer in
            for piece in 0..<50 {
                writer.append("piece ")
                writer.append("\(piece)\u{1B}é".utf8.span)
                writer.append("".utf8.span)
            }
        }
        #expect(written == (0..<50).map { "piece \($0)\u{1B}é" }.joined())
    }
}
