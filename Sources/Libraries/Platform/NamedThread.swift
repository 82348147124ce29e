private import Glibc
private import Synchronization

/// A thread of the system with a name that `top -H` and debuggers show.
///
/// Such a thread does work that blocks on a disk or never ends, which must not occupy the threads of Swift's own pool.
/// Threads inherit the signal mask of the thread that starts them.
package final class NamedThread: Sendable {
    private let end = Wakeup()

    private init() {}

    /// Starts a thread that runs the body and ends with it.
    ///
    /// The name is cut to 15 bytes, the system's limit.
    @discardableResult
    package static func start(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> NamedThread {
        let thread = NamedThread()
        let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, body: body, end: thread.end))
        var handle = pthread_t()
        let code = unsafe pthread_create(&handle, nil, runThread, start.toOpaque())
        guard code == 0 else {
            unsafe start.release()
            throw SystemError(code: code, operation: "start a thread for \(name)")
        }
        // The program may end at any time, also between the end of a thread and a call that waits for that end.
        _ = pthread_detach(handle)
        return thread
    }

    /// Waits for the end of the body, and until what the body holds is released.
    package func join() {
        end.wait()
        // For the next call.
        end.wake()
    }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void
    let end: Wakeup

    init(name: String, body: @escaping @Sendable () -> Void, end: Wakeup) {
        self.name = name
        self.body = body
        self.end = end
    }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    run(unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()).wake()
    return nil
}

/// Runs the body, which nothing holds any more afterwards, and returns what announces its end.
private func run(_ start: consuming ThreadStart) -> Wakeup {
    nameThisThread(start.name)
    start.body()
    return start.end
}

/// Writes the name to the kernel's file, because Swift's Glibc does not show `pthread_setname_np`, a GNU extension.
private func nameThisThread(_ name: String) {
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    let bytes = Array(name.utf8.prefix(15))
    _ = unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
    _ = close(file)
}

/// Carries a value that cannot be copied to the thread that will own it, which is the first that asks.
package final class TransferBox<Value: ~Copyable>: Sendable {
    private let value: Mutex<Value?>

    package init(_ value: consuming sending Value) {
        self.value = Mutex(value)
    }

    /// Returns the value; nil if it was taken before.
    package func take() -> sending Value? {
        value.withLock { $0.take() }
    }
}
