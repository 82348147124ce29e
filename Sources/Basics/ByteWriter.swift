/// Bytes that are appended piece by piece and read in the end.
///
/// An array asks before each piece whether it is shared; where pieces are short, that costs more than the pieces.
///
/// Unchecked: it cannot be copied, and nothing else knows its memory.
@safe
package struct ByteWriter: ~Copyable, @unchecked Sendable {
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

    /// How many bytes were written.
    package var size: Int { count }

    /// Appends what was written to an array.
    package func copy(to bytes: inout [UInt8]) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
    }

    /// Begins anew, with the same memory if it is at most this many bytes.
    package mutating func removeAll(keeping room: Int) {
        if capacity > room { self = ByteWriter(capacity: room) } else { count = 0 }
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

    /// Appends three texts of the program: one check for room, and no call for a short one.
    package mutating func append(_ first: StaticString, _ second: StaticString, _ third: StaticString) {
        let size = first.utf8CodeUnitCount + second.utf8CodeUnitCount + third.utf8CodeUnitCount
        if capacity - count < size { makeRoom(size) }
        put(first)
        put(second)
        put(third)
    }

    /// Appends a text for which there is room.
    @inline(__always)
    private mutating func put(_ text: StaticString) {
        let (source, size) = unsafe (text.utf8Start, text.utf8CodeUnitCount)
        if size <= 4 {
            for index in 0..<size { unsafe start[count + index] = source[index] }
        } else {
            unsafe (start + count).initialize(from: source, count: size)
        }
        count += size
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
        unsafe (start + count).initialize(from: bytes, count: size)
        count += size
    }

    /// Appends a number in decimal digits.
    package mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var magnitude = value.magnitude
        var size = 1
        // At most 10^19, which is above 2^63 and below 2^64.
        var bound: UInt = 10
        while magnitude >= bound {
            size += 1
            bound *= 10
        }
        if capacity - count < size { makeRoom(size) }
        var place = count + size
        count = place
        while magnitude >= 10 {
            let (rest, pair) = magnitude.quotientAndRemainder(dividingBy: 100)
            place -= 2
            unsafe (start + place).initialize(from: Self.pairs + 2 * Int(pair), count: 2)
            magnitude = rest
        }
        // The first digit of an odd number of them; a single zero has no pair either.
        guard magnitude > 0 || value == 0 else { return }
        unsafe start[place - 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude)
    }

    /// 00, 01, … 99.
    private static var pairs: UnsafePointer<UInt8> {
        let digits: StaticString = """
            00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657\
            585960616263646566676869707172737475767778798081828384858687888990919293949596979899
            """
        return unsafe digits.utf8Start
    }

    /// Appends sixteen hexadecimal digits.
    package mutating func append(hexadecimal value: UInt64) {
        if capacity - count < 16 { makeRoom(16) }
        let place = unsafe UnsafeMutableRawPointer(start + count)
        unsafe place.storeBytes(of: value.hexadecimalDigits, as: (UInt64, UInt64).self)
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
        unsafe larger.initialize(from: start, count: count)
        unsafe start.deallocate()
        unsafe start = larger
    }
}
