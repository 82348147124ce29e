import Basics

/// The text of a task: 1 to 4096 bytes of UTF-8, kept and compared byte for byte, without U+0000.
///
/// SQLite keeps U+0000, PostgreSQL refuses it; refused here, both stores behave alike.
package struct TaskText: Hashable, Sendable {
    package let value: String

    package enum Failure: Error, Equatable, Sendable {
        case empty
        case tooLong(bytes: Int)
        case containsNUL
    }

    /// The longest text, in bytes.
    package static let longest = 4096

    package init(_ value: String) throws(Failure) {
        try Self.check(value, longest: Self.longest)
        self.value = value
    }

    /// Checks what holds for every text that a person writes, of at most this many bytes.
    static func check(_ value: String, longest: Int) throws(Failure) {
        guard !value.isEmpty else { throw .empty }
        guard value.utf8.count <= longest else { throw .tooLong(bytes: value.utf8.count) }
        guard !value.containsNUL else { throw .containsNUL }
    }

    /// Equality of bytes: the standard library would take NFC for NFD.
    ///
    /// Equal bytes have equal hashes, so the hash can be the string's.
    package static func == (left: TaskText, right: TaskText) -> Bool {
        left.value.isSame(as: right.value)
    }
}
