import Basics
internal import HTTP

extension ClientConnection {
    /// Whether the chunk that begins with this piece was announced as longer than this, where that can be seen.
    ///
    /// libmicrohttpd keeps the size of a chunk to itself and has a body of 2^63 bytes begin. But it hands over a chunk in
    /// its read buffer, which begins where the head ended: a piece that lies further on follows the line of its size.
    /// Where that line came alone, the buffer was emptied since, and the bytes themselves are counted.
    func isAnnouncedLonger(_ piece: UnsafeBufferPointer<UInt8>, than limit: Int) -> Bool {
        guard expectedBody == .chunked, let start = piece.baseAddress else { return false }
        let distance = UInt(bitPattern: start) &- bodyBuffer
        guard bodyBuffer != 0, distance > 0, distance <= UInt(core.limits.connectionMemory) else { return false }
        let before = unsafe UnsafeBufferPointer(start: start - Int(distance), count: Int(distance))
        let line = unsafe before.dropLast()  // the line feed of this line
        let first = unsafe line.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? line.startIndex
        let digits = unsafe line[first...].drop { $0 == UInt8(ascii: "0") }.prefix { $0.hexadecimalValue != nil }
        // 15 digits are less than 2^60.
        guard unsafe digits.count <= 15 else { return true }
        return unsafe Int(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0 > limit
    }
}
