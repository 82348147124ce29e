/// Bytes that are appended piece by piece and read in the end.
///
/// An array asks before each piece whether it is shared; where pieces are short, that costs more than the pieces.
///
/// Unchecked: it cannot be copied, and nothing else knows its memory.
@safe
package struct ByteWriter: ~Copyable, @unchecked Sendable {
    // `count` bytes are initialized of `capacity` allocated ones.
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0

    /// Empty, with room for this many bytes (at least one) before it grows.
    package init(capacity: Int) {
        self.capacity = max(capacity, 1)
        unsafe start = .allocate(capacity: self.capacity)
    }

    deinit { unsafe start.deallocate() }

    /// Appends the bytes that were written to an array.
    package func copy(to bytes: inout [UInt8]) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
    }

    /// Appends one byte.
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe (start + count).initialize(to: byte)
        count += 1
    }

    /// Appends the bytes of a text of the program.
    package mutating func append(_ text: StaticString) {
        unsafe append(text.utf8Start, text.utf8CodeUnitCount)
    }

    /// Appends a name of the program with what stands before and after it.
    package mutating func append(_ before: StaticString, _ name: StaticString, _ after: StaticString) {
        reserve(before.utf8CodeUnitCount + name.utf8CodeUnitCount + after.utf8CodeUnitCount)
        unsafe put(before.utf8Start, before.utf8CodeUnitCount)
        unsafe put(name.utf8Start, name.utf8CodeUnitCount)
        unsafe put(after.utf8Start, after.utf8CodeUnitCount)
    }

    package mutating func append(_ text: Span<UInt8>) {
        unsafe text.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe append(start, bytes.count)
        }
    }

    /// Appends a number in decimal digits.
    package mutating func append(decimal value: Int) {
        // A sign and 19 digits.
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "-"))
        var place = digits.count
        var rest = value.magnitude
        repeat {
            place -= 1
            digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        append(digits.span.extracting((value < 0 ? place - 1 : place)...))
    }

    /// Appends sixteen hexadecimal digits.
    package mutating func append(hexadecimal value: UInt64) {
        let digits = value.hexadecimalDigits
        unsafe withUnsafeBytes(of: digits) { unsafe append($0.assumingMemoryBound(to: UInt8.self).span) }
    }

    private mutating func append(_ bytes: UnsafePointer<UInt8>, _ size: Int) {
        reserve(size)
        unsafe put(bytes, size)
    }

    /// Appends bytes for which there is room.
    @inline(__always)
    private mutating func put(_ bytes: UnsafePointer<UInt8>, _ size: Int) {
        if size <= 4 {
            // Most pieces are punctuation, for which a call of memcpy costs more.
            for index in 0..<size { unsafe start[count &+ index] = bytes[index] }
        } else {
            unsafe (start + count).initialize(from: bytes, count: size)
        }
        count += size
    }

    @inline(__always)
    private mutating func reserve(_ size: Int) {
        if capacity - count < size { makeRoom(size) }
    }

    private mutating func makeRoom(_ size: Int) {
        capacity = max(capacity * 2, count + size)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        unsafe larger.initialize(from: start, count: count)
        unsafe start.deallocate()
        unsafe start = larger
    }
}
