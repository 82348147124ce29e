private import Glibc

/// What the operating system refused, and why.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The error number (`errno`).
    package let code: Int32
    /// What was tried: `open 'tasks.db'`.
    package let operation: String
    /// The reason, where it is not the system's.
    private let ownReason: String?

    /// This error number of this operation.
    package init(code: Int32, operation: String) {
        self.code = code
        self.operation = operation
        ownReason = nil
    }

    /// An operation that was not tried, and the reason.
    package init(operation: String, reason: String) {
        code = EINVAL
        self.operation = operation
        ownReason = reason
    }

    /// The reason as the system names it: `Permission denied`.
    package var reason: String {
        if let ownReason { return ownReason }
        var buffer = [CChar](repeating: 0, count: 256)
        _ = unsafe strerror_r(code, &buffer, buffer.count)
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? "error \(code)" : String(decoding: bytes, as: UTF8.self)
    }

    /// Whether there is nothing under that name.
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }

    /// Operation and reason in one line.
    package var description: String { "\(operation): \(reason)" }

    /// The error of this thread's last call.
    static func last(_ operation: String) -> SystemError {
        SystemError(code: errno, operation: operation)
    }
}
