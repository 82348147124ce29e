package import OpenSSL

package struct KeyGenerator: Sendable {
    let generate: @Sendable () throws(PrivateKeyError) -> PrivateKey

    /// Keys from this closure, which is called on another thread than the event loop's.
    package init(_ generate: @escaping @Sendable () throws(PrivateKeyError) -> PrivateKey) {
        self.generate = generate
    }

    /// A new key of 2048 bits each time: some 50 to 200 ms.
    package static let generated = KeyGenerator { () throws(PrivateKeyError) in try PrivateKey.generate(bits: 2048) }
}
