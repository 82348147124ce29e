import Basics

/// What a person notes about a task: 1 to 10,000 bytes of UTF-8, kept and compared byte for byte, without U+0000.
///
/// As ``TaskText``, but longer; line breaks are kept as they are.
package struct TaskNotes: Hashable, Sendable {
    package let value: String

    /// The longest notes, in bytes.
    package static let longest = 10_000

    package init(_ value: String) throws(TaskText.Failure) {
        try TaskText.check(value, longest: Self.longest)
        self.value = value
    }

    /// Equality of bytes: the standard library would take NFC for NFD.
    ///
    /// Equal bytes have equal hashes, so the hash can be the string's.
    package static func == (left: TaskNotes, right: TaskNotes) -> Bool {
        left.value.isSame(as: right.value)
    }
}
