import Synchronization
package import Zlib

/// The gzip form of a list or a file, which is made for the first client that asks for it and kept beside the content.
package final class GzipForm: Sendable {
    private enum State {
        case notMade
        /// The compressed bytes; nil if gzip saves less than half.
        case made([UInt8]?)
    }

    /// The lease of the answers under way.
    private struct Sent {
        weak var lease: AnswerLease?
    }

    /// The shortest content that has a gzip form, in bytes.
    ///
    /// An answer with shorter content fits into one packet as it is.
    package static let shortest = 1024

    private let content: [UInt8]
    private let effort: Gzip.Effort
    private let state = Mutex(State.notMade)
    private let sent = Mutex(Sent())

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
        state.withLockIfAvailable { state in
            if case .made = state { true } else { false }
        } ?? false
    }

    /// The form, made now unless it was made before; nil if gzip saves less than half of the bytes.
    package var bytes: [UInt8]? {
        state.withLock { state in
            if case .made(let bytes) = state { return bytes }
            let bytes = Gzip.compress(content, effort, limit: limit)
            state = .made(bytes)
            return bytes
        }
    }

    /// A lease of this many bytes for answers with the gzip form of a list; all answers that are under way share it.
    ///
    /// It replaces the lease of the list itself. Nil if there is no room for it.
    package func lease(_ bytes: Int, inPlaceOf lease: AnswerLease) -> AnswerLease? {
        sent.withLock { sent in
            if let shared = sent.lease { return shared }
            let own = lease.another(bytes)
            sent.lease = own
            return own
        }
    }
}
