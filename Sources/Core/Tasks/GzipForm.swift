import Synchronization
package import Zlib

/// The gzip form of a list or a file, which is made for the first client that asks for it and kept beside the content.
package final class GzipForm: Sendable {
    /// The shortest content that has a gzip form, in bytes; shorter content fits into one packet as it is.
    package static let shortest = 1024

    private let content: [UInt8]
    private let effort: Gzip.Effort
    /// Nil until the form is made.
    private let form = Mutex<[UInt8]??>(nil)

    /// Prepares the form of this content without making it; nil for short content.
    package init?(of content: [UInt8], _ effort: Gzip.Effort) {
        guard content.count >= Self.shortest else { return nil }
        self.content = content
        self.effort = effort
    }

    /// The most bytes that the form can have.
    package var limit: Int { content.count / 2 }

    /// Whether ``bytes`` returns without compressing, and without waiting for another thread that compresses.
    package var isMade: Bool {
        form.withLockIfAvailable { $0 != nil } ?? false
    }

    /// The form, made now unless it was made before; nil if gzip saves less than half of the bytes.
    package var bytes: [UInt8]? {
        form.withLock { form in
            let bytes = form ?? Gzip.compress(content, effort, limit: limit)
            form = .some(bytes)
            return bytes
        }
    }
}
