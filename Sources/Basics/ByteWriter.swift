/// Bytes that are appended piece by piece and read in the end.
///
/// An array asks before each piece whether it is shared; where pieces are short, that costs more than the pieces.
@safe
package struct ByteWriter: ~Copyable {
    // `count` bytes are initialized of `capacity` allocated ones.
    @usableFromInline internal var start: UnsafeMutablePointer<UInt8>
    @usableFromInline internal var capacity: Int
    @usableFromInline internal var count = 0

    /// Empty, with room for this many bytes (at least one) before it grows.
    package init(capacity: Int) {
        self.capacity = max(capacity, 1)
        unsafe start = .allocate(capacity: self.capacity)
    }

    deinit { unsafe start.deallocate() }

    /// Appends what was written to an array.
    package func copy(to bytes: inout [UInt8]) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
    }

    @inlinable
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        if count == capacity { makeRoom(1) }
        unsafe start[count] = byte
        count += 1
    }

    /// Appends the bytes of a text of the program.
    @inlinable
    package mutating func append(_ text: StaticString) {
        unsafe append(text.utf8Start, text.utf8CodeUnitCount)
    }

    @inlinable
    package mutating func append(_ text: Span<UInt8>) {
        unsafe text.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe append(start, bytes.count)
        }
    }

    @usableFromInline
    internal mutating func append(_ bytes: UnsafePointer<UInt8>, _ size: Int) {
        if capacity - count < size { makeRoom(size) }
        unsafe (start + count).update(from: bytes, count: size)
        count += size
    }

    /// Appends a number in decimal digits.
    package mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var magnitude = value.magnitude
        var size = 1
        var bound: UInt = 10
        while magnitude >= bound {
            size += 1
            let (next, isBeyond) = bound.multipliedReportingOverflow(by: 10)
            if isBeyond { break }
            bound = next
        }
        if capacity - count < size { makeRoom(size) }
        var place = count + size
        repeat {
            place -= 1
            unsafe start[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10)
            magnitude /= 10
        } while place > count
        count += size
    }

    /// Appends sixteen hexadecimal digits.
    package mutating func append(hexadecimal value: UInt64) {
        if capacity - count < 16 { makeRoom(16) }
        for place in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * place)) & 15
            unsafe start[count + place] = digit &+ (digit < 10 ? 0x30 : 0x57)
        }
        count += 16
    }

    /// Appends printable ASCII as it is, and escapes the rest, as the array's function of the same name does.
    package mutating func append(asciiOnly text: Span<UInt8>, escape: ASCIIEscape) {
        var escaped: [UInt8] = []
        escaped.append(asciiOnly: text, escape: escape)
        append(escaped.span)
    }

    @usableFromInline
    internal mutating func makeRoom(_ size: Int) {
        capacity = max(capacity * 2, count + size)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        unsafe larger.update(from: start, count: count)
        unsafe start.deallocate()
        unsafe start = larger
    }
}
