package import Basics
private import Glibc

/// A refusal of the operating system, with its reason.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The error number (`errno`).
    package let code: Int32
    /// The operation that was tried: `open 'tasks.db'`.
    package let operation: String
    /// The reason, if it is not the system's.
    private let ownReason: String?

    /// Creates an error from the system's error number.
    package init(code: Int32, operation: String) {
        self.code = code
        self.operation = operation
        ownReason = nil
    }

    /// Creates an error for an operation that was not tried, with a reason of our own.
    package init(operation: String, reason: String) {
        code = EINVAL
        self.operation = operation
        ownReason = reason
    }

    /// The reason in the words of the system: `Permission denied`.
    package var reason: String {
        if let ownReason { return ownReason }
        var buffer = [CChar](repeating: 0, count: 256)
        _ = unsafe strerror_r(code, &buffer, buffer.count)
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? "error \(code)" : String(decoding: bytes, as: UTF8.self)
    }

    /// Whether nothing has that name.
    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }

    /// The operation and the reason in one line.
    package var description: String { "\(operation): \(reason)" }

    /// Something else than a file has the name, such as a folder.
    static func noFile(_ path: String, _ kind: String) -> SystemError {
        SystemError(operation: "open '\(path)'", reason: "it is \(kind), not a file")
    }

    /// Returns the error of this thread's last call.
    static func last(_ operation: String) -> SystemError {
        SystemError(code: errno, operation: operation)
    }
}

extension OperatorError {
    /// A file or a stream that cannot be used.
    package init(_ error: SystemError) { self.init(error.description) }
}
