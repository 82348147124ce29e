/// The words of a task: 1 to 4096 bytes of UTF-8, kept and compared byte for byte, without U+0000.
///
/// SQLite keeps U+0000, PostgreSQL refuses it; refused here, both stores behave alike.
package struct TaskText: Hashable, Sendable {
    /// The words.
    package let value: String

    /// What is wrong with a text.
    package enum Failure: Error, Equatable, Sendable {
        case empty
        case tooLong(bytes: Int)
        case containsNUL
    }

    /// The longest text, in bytes.
    package static let longest = 4096

    /// A text of these words.
    package init(_ value: String) throws(Failure) {
        guard !value.isEmpty else { throw .empty }
        guard value.utf8.count <= Self.longest else { throw .tooLong(bytes: value.utf8.count) }
        guard !value.containsNUL else { throw .containsNUL }
        self.value = value
    }

    /// Equality of bytes: the standard library would take NFC for NFD.
    package static func == (left: TaskText, right: TaskText) -> Bool {
        left.value.utf8.elementsEqual(right.value.utf8)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in value.utf8 { hasher.combine(byte) }
    }
}

extension String {
    /// Whether U+0000 is in it.
    package var containsNUL: Bool { utf8.span.contains { $0 == 0 } }
}

extension Span<UInt8> {
    /// Whether one of the bytes is such; looks at all of them without an early end, so that it becomes vector code.
    @inline(__always)
    func contains(_ isSuch: (UInt8) -> Bool) -> Bool {
        var found = false
        for index in indices { found = isSuch(self[index]) || found }
        return found
    }
}
