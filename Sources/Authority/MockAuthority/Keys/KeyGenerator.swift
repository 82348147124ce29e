package import OpenSSL
private import Synchronization

/// Where new keys come from.
package struct KeyGenerator: Sendable {
    let generate: @Sendable () throws(PrivateKeyError) -> PrivateKey

    /// Keys from this closure, which is called on another thread than the event loop's.
    package init(_ generate: @escaping @Sendable () throws(PrivateKeyError) -> PrivateKey) {
        self.generate = generate
    }

    /// A new key of 2048 bits each time: some 50 to 200 ms.
    package static let generated = KeyGenerator { () throws(PrivateKeyError) in try PrivateKey.generate(bits: 2048) }

    /// These keys in their order, then new ones: for tests, which save the time to generate them.
    package static func prepared(_ keys: [PrivateKey]) -> KeyGenerator {
        let prepared = PreparedKeys(keys)
        return KeyGenerator { () throws(PrivateKeyError) in
            if let key = prepared.next() { return key }
            return try PrivateKey.generate(bits: 2048)
        }
    }
}

private final class PreparedKeys: Sendable {
    private let keys: Mutex<[PrivateKey]>

    init(_ keys: [PrivateKey]) {
        self.keys = Mutex(keys)
    }

    func next() -> PrivateKey? {
        keys.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
