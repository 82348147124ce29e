import Basics
import HTTP

extension ClientConnection {
    /// Returns whether the library takes the line feed of the chunk's size line for the first byte of the chunk.
    ///
    /// libmicrohttpd 1.0.1 does so after each chunk extension, so it would see the end of the body in another place.
    func isMisread(_ piece: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = piece.baseAddress, unsafe start.pointee == UInt8(ascii: "\n") else { return false }
        return unsafe start[-1] == UInt8(ascii: "\r")  // at least the head stands before the piece
    }

    /// Returns the announced size of the chunk that begins with this piece, or 0 if it cannot be seen.
    ///
    /// libmicrohttpd accepts a chunk of 2^63 bytes and does not tell its size. But it hands a chunk over in its read
    /// buffer, which begins where the head ended, so the line with the size usually stands before the piece. If that
    /// line came alone, the buffer was emptied since, and only the bytes themselves can be counted.
    func announcedChunkSize(_ piece: UnsafeBufferPointer<UInt8>) -> Int {
        guard let start = piece.baseAddress else { return 0 }
        let distance = UInt(bitPattern: start) &- bodyBuffer
        guard bodyBuffer != 0, distance > 0, distance <= UInt(core.limits.connectionMemory) else { return 0 }
        let before = unsafe UnsafeBufferPointer(start: start - Int(distance), count: Int(distance))
        let line = unsafe before.dropLast()  // the line feed of this line
        let first = unsafe line.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? line.startIndex
        let digits = unsafe line[first...].drop { $0 == UInt8(ascii: "0") }.prefix { $0.hexadecimalValue != nil }
        // Numbers of 15 digits are less than 2^60.
        guard unsafe digits.count <= 15 else { return .max }
        return unsafe Int(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
    }
}
