private import Glibc
private import Synchronization

/// Numbers of threads: 0, 1, 2, … in the order in which they first ask, for parts of which each thread has its own.
package enum ThreadNumber {
    private static let next = Atomic<Int>(1)
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// The number of the calling thread; 0 if the system has no room to remember one.
    package static var current: Int {
        guard let key else { return 0 }
        let known = unsafe Int(bitPattern: pthread_getspecific(key))
        return known > 0 ? known - 1 : assign(key)
    }

    private static func assign(_ key: pthread_key_t) -> Int {
        let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: number)) == 0 ? number - 1 : 0
    }
}
