import Basics

/// The text of a task: 1 to 4096 bytes of UTF-8, kept and compared byte for byte, without U+0000.
///
/// SQLite keeps U+0000 and PostgreSQL refuses it. It is refused here, so that both stores behave alike.
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
        guard !value.isEmpty else { throw .empty }
        guard value.utf8.count <= Self.longest else { throw .tooLong(bytes: value.utf8.count) }
        guard !value.containsNUL else { throw .containsNUL }
        self.value = value
    }

    /// Equality of bytes, because the standard library treats NFC and NFD as equal.
    ///
    /// Equal bytes have equal hashes, so the hash can be the string's.
    package static func == (left: TaskText, right: TaskText) -> Bool {
        left.value.isSame(as: right.value)
    }
}
