private import Synchronization
internal import OpenSSL

/// Keys in a row, taken one by one.
final class Shelf: Sendable {
    private let keys: Mutex<[RSAPrivateKey]>

    init(_ keys: [RSAPrivateKey]) {
        self.keys = Mutex(keys)
    }

    /// The first that is left.
    func take() -> RSAPrivateKey? {
        keys.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}
