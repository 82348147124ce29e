import Basics
import OpenSSL
import Platform
import Settings
import Tasks

/// Whether the server speaks TLS itself, without a proxy in front, and the address by which clients reach it.
struct TransportSettings: Sendable {
    /// The address as clients write it, without a slash at its end; nil if it is not known.
    let publicAddress: WebAddress?
    private let certificate: String?
    private let key: String?

    init(reading reader: inout SettingReader) {
        publicAddress = reader.optional(
            "PUBLIC_URL", .webAddress(example: "https://tasks.example.com"), absence: "only known on this machine",
            help: "The address by which clients reach the server or the proxy before it; it may have a path.")
        certificate = reader.optional(
            "TLS_CERT", .path, absence: "plain HTTP", help: "The server's certificates (PEM), its own first, for TLS.")
        key = reader.optional("TLS_KEY", .path, absence: "plain HTTP", help: "The private key (PEM) of TASKS_TLS_CERT.")
        if (certificate == nil) != (key == nil) {
            reader.mistake("TASKS_TLS_CERT and TASKS_TLS_KEY belong together; set both, or neither for plain HTTP.")
        }
        if let publicAddress,
            !publicAddress.isEncrypted && !publicAddress.isLoopback
                || publicAddress.text.contains(where: "?#\"<>".contains)
        {
            reader.mistake(
                "TASKS_PUBLIC_URL must begin with https:// (http:// only on this machine) and have no query, "
                    + "fragment or quotes: tokens are sent there.")
        }
    }

    /// Whether people reach the server by https.
    var isSecure: Bool { certificate != nil }

    /// The files of the certificates and of the key, with their settings.
    var files: [(setting: String, path: String?)] { [("TASKS_TLS_CERT", certificate), ("TASKS_TLS_KEY", key)] }

    /// Reads both files, and checks that the key belongs to the certificate; returns nil for plain HTTP.
    func credentials() throws(OperatorError) -> ServerCredentials? {
        guard let certificate, let key else { return nil }
        let certificates = try Self.text(certificate, "TASKS_TLS_CERT")
        let keyText = try Self.text(key, "TASKS_TLS_KEY")
        return try rethrowing(as: { OperatorError(Self.message($0, certificate, key)) }) {
            () throws(ServerCredentialsError) in try ServerCredentials(certificates: certificates, key: keyText)
        }
    }

    private static func text(_ path: String, _ setting: String) throws(OperatorError) -> String {
        let advice = "check the path, and that the server's user may read the file"
        return try rethrowing(as: { OperatorError("\(setting): cannot \($0)", advice: advice) }) {
            () throws(SystemError) in try File.text(path, limit: 1 << 20)
        }
    }

    private static func message(_ error: ServerCredentialsError, _ certificate: String, _ key: String) -> String {
        switch error {
        case .noCertificate:
            "TASKS_TLS_CERT: \(certificate) holds no -----BEGIN CERTIFICATE-----; give a file in PEM. For one in DER: "
                + "openssl x509 -inform DER -in \(certificate) -out certificate.pem"
        case .unreadableCertificate(let position):
            "TASKS_TLS_CERT: certificate \(position) in \(certificate) cannot be read; get the file again from its issuer"
        case .tooManyCertificates:
            "TASKS_TLS_CERT: \(certificate) has more than \(ServerCredentials.longestChain) certificates; give the server's "
                + "own and those of its issuers, not those of all authorities"
        case .encryptedKey:
            "TASKS_TLS_KEY: \(key) is encrypted, and the server has no passphrase. Decrypt it into a file that only the server "
                + "can read: openssl pkey -in \(key) -out decrypted.key"
        case .unreadableKey:
            "TASKS_TLS_KEY: \(key) holds no private key that can be read; give one in PEM (PKCS #8, PKCS #1 or EC). "
                + "For one in DER: openssl pkey -inform DER -in \(key) -out key.pem"
        case .keyDoesNotMatch:
            "TASKS_TLS_KEY: \(key) is not the key to the certificate in \(certificate); give the one with which it was requested"
        case .keyOfAnother(let position):
            "TASKS_TLS_CERT: the key in \(key) belongs to certificate \(position) of \(certificate); put the server's own first, "
                + "then that of its issuer"
        }
    }
}

extension CertificateFlaw {
    var message: String {
        switch self {
        case .expired(let position, let moment):
            "\(Self.certificate(position)) expired on \(moment.asDate): clients refuse it. Get a new one, and reload the server"
        case .notYetValid(let position, let moment):
            "\(Self.certificate(position)) is valid from \(moment.asDate) only: clients refuse it until then. See that the "
                + "clock of this machine is right"
        case .outOfOrder(let position):
            "certificate \(position) of TASKS_TLS_CERT did not issue the one before it: strict clients refuse the chain. "
                + "Put the server's own first, then that of its issuer, and so on, without the root"
        case .noNames:
            "the certificate names no host (subjectAltName): clients refuse it. Get one for the server's public name"
        case .notForServers:
            "the certificate is not for TLS servers (its key usage): clients refuse it. Get one with the purpose serverAuth"
        case .weakKey(let position):
            "\(Self.certificate(position)) has a key that is too short: clients refuse it. Get one with RSA of 2048 bits or more, "
                + "or with EC P-256"
        case .unusualKey:
            "the certificate has a key that is neither RSA nor EC P-256 nor EC P-384: no client can connect. Get one with EC P-256"
        case .weakSignature(let position):
            "\(Self.certificate(position)) is signed with MD5 or SHA-1: clients refuse it. Get one that is signed with SHA-256"
        }
    }

    private static func certificate(_ position: Int) -> String {
        position == 1 ? "the certificate" : "certificate \(position) of TASKS_TLS_CERT"
    }
}

extension ServerCredentials {
    /// The moment after which the first of its certificates is no longer valid, since 1970.
    var end: Int64 { certificates.map(\.notAfter).min() ?? 0 }

    /// The whole days until the end; negative after the end.
    func daysLeft(at now: Int64) -> Int64 { (end - now).quotientAndRemainder(flooredBy: 86_400).quotient }

    /// The operator is warned when fewer days are left.
    static let fewDays: Int64 = 14
}

extension Int64 {
    /// These seconds since 1970 as `2026-11-22T08:00:00.000Z`.
    var asDate: String { Timestamp(milliseconds: self * 1000).text }
}
