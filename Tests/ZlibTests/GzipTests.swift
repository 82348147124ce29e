import Support
import Testing
import Zlib

@Suite("gzip")
struct GzipTests {
    /// Texts that repeat, of lengths around the sizes of windows.
    private static let lengths = [1, 2, 511, 512, 513, 1024, 4096, 16_384, 32_767, 32_768, 32_769, 300_000]

    private func repeating(_ count: Int) -> [UInt8] {
        var text: [UInt8] = []
        var number = 0
        while text.count < count {
            number += 1
            text += Array("{\"Id\":\(number),\"task\":\"Buy milk\"},".utf8)
        }
        return Array(text.prefix(count))
    }

    @Test(arguments: lengths, [Gzip.Effort.fast, .thorough])
    func `Another implementation reads it`(count: Int, effort: Gzip.Effort) throws {
        let bytes = repeating(count)
        let compressed = try #require(Gzip.compress(bytes, effort, limit: count + 64))
        #expect(compressed.starts(with: [0x1F, 0x8B, 8]))
        #expect(try decompressed(compressed) == bytes)
        if count > 500 { #expect(compressed.count < count / 2) }
    }

    @Test func `What does not fit is nothing`() throws {
        let bytes = repeating(20_000)
        let size = try #require(Gzip.compress(bytes, .fast, limit: 20_000)).count
        #expect(Gzip.compress(bytes, .fast, limit: size)?.count == size)
        #expect(Gzip.compress(bytes, .fast, limit: size - 1) == nil)
        #expect(Gzip.compress(bytes, .fast, limit: 0) == nil)
        var random = SeededRandom()
        let noise = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(Gzip.compress(noise, .thorough, limit: 4000) == nil)
    }

    @Test func `Nothing is compressed to an empty file`() throws {
        let compressed = try #require(Gzip.compress([], .fast, limit: 64))
        #expect(try decompressed(compressed).isEmpty)
    }
}
