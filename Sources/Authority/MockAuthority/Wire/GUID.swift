import Basics
private import OpenSSL

extension GUID {
    /// A random one of version 4.
    static func random() -> String { version4(random: SecureRandom.bytes(16)) }
}
