import Basics
import OpenSSL

/// How the keys of a ring are named, and how many there are at first.
struct KeyNaming: Sendable {
    /// The subject of the certificates whose thumbprints are the names, as at Entra (docs/reproduced.md, "Keys"); empty
    /// if the keys have no certificates.
    var subject = ""
    /// The era of B2C, whose keys have no certificates.
    var era = Era.current

    static let microsoft = KeyNaming(subject: "accounts.accesscontrol.windows.net")

    static let personal = KeyNaming(subject: "Live ID STS Signing Public Key")

    /// Microsoft's sets never have only one.
    var firstKeys: Int { subject.isEmpty ? 1 : 2 }

    /// The signing key of a private key; `number` counts from 1, and is `nil` for one that is never published.
    func key(_ key: PrivateKey, notBefore: Int64, number: Int?) throws(PrivateKeyError) -> TokenSigningKey {
        if subject.isEmpty { return TokenSigningKey(key, notBefore: notBefore, name: number.flatMap(era.keyName)) }
        let certificate = try CertificateMaker(now: notBefore).tokenSigning(key, name: subject)
        return TokenSigningKey(key, notBefore: notBefore, name: Base64URL.encode(SHA1.digest(certificate)))
    }
}
