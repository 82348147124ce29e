/// The hash FNV-1a with 64 bits, which distinguishes texts but does not resist a search for collisions.
package struct FNV1a {
    /// The hash of everything that was added so far.
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package init(of text: String) {
        add(text)
    }

    package mutating func add(_ text: String) {
        let bytes = text.utf8.span
        for index in bytes.indices { add(bytes[index]) }
    }

    package mutating func add(_ bytes: [UInt8]) {
        for byte in bytes { add(byte) }
    }

    package mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}
