import Glibc
import Synchronization

/// Runs asynchronous work to its end on a thread that may block: libFuzzer knows functions only.
///
/// Work that never suspends runs on this thread.
func waiting<Value: Sendable>(for work: @escaping @Sendable () async -> Value) -> Value {
    let outcome = Outcome<Value>()
    Task.immediate { outcome.set(await work()) }
    return outcome.get()
}

/// A value that one thread waits for.
private final class Outcome<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func set(_ value: Value) {
        self.value.withLock { $0 = value }
        sem_post(semaphore)
    }

    func get() -> Value {
        while true {
            if let value = value.withLock({ $0 }) { return value }
            sem_wait(semaphore)
        }
    }
}
