import Basics
import OpenSSL

/// How the keys of a ring are named, and how many there are at first.
enum KeyNaming: Sendable {
    /// B2C: the container's name in the preview of 2015, then the thumbprint of the JWK.
    case b2c(Era)
    /// Entra: the thumbprint of a certificate of this subject (docs/reproduced.md, "Keys").
    case certificate(subject: String)

    static let microsoft = KeyNaming.certificate(subject: "accounts.accesscontrol.windows.net")

    static let personal = KeyNaming.certificate(subject: "Live ID STS Signing Public Key")

    /// Microsoft's sets never have only one.
    var firstKeys: Int {
        switch self {
        case .b2c: 1
        case .certificate: 2
        }
    }

    /// The name of the key of this number; `nil` where numbers are not in it.
    func name(ofNumber number: Int) -> String? {
        switch self {
        case .b2c(let era): era.keyName(number)
        case .certificate: nil
        }
    }

    /// The signing key of a private key; `number` counts from 1, and is `nil` for one that is never published.
    func key(_ key: PrivateKey, notBefore: Int64, number: Int?) throws(PrivateKeyError) -> TokenSigningKey {
        switch self {
        case .b2c(let era):
            return TokenSigningKey(key, notBefore: notBefore, name: number.flatMap(era.keyName))
        case .certificate(let subject):
            let certificate = try CertificateMaker(now: notBefore).tokenSigning(key, name: subject)
            return TokenSigningKey(key, notBefore: notBefore, name: Base64URL.encode(SHA1.digest(certificate)))
        }
    }
}
