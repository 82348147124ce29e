package import Basics
import OpenSSL
package import Platform

/// The certificate for https and the certificate authority that signed it, made once and saved.
package struct ServerCertificate: Sendable, Equatable {
    /// The server's certificate and its authority's, in PEM.
    package let chain: String
    package let key: String
    package let authorityFile: String

    private static let issuer = "mock-authority local CA"

    /// Reads the certificate of a folder, or makes one if it is missing, too old, or lacks a name.
    ///
    /// - Parameters:
    ///   - folder: where `ca.pem`, `ca.key`, `tls.pem` and `tls.key` are.
    ///   - names: more names of the server, in addition to localhost, 127.0.0.1 and ::1.
    ///   - time: dates the certificate.
    /// - Throws: why the folder cannot be used.
    package init(in folder: StateFolder, names: [String], time: any TimeSource) throws(OperatorError) {
        let maker = CertificateMaker(now: time.wallMilliseconds / 1000)
        let all = ["localhost", "127.0.0.1", "::1"] + names
        authorityFile = folder.file("ca.pem")
        if let kept = try Self.kept("tls", count: 2, folder), kept.own.names == all,
            // Valid for five more days.
            kept.own.notBefore <= maker.now, maker.now <= kept.own.notAfter - 5 * 86400,
            try folder.read("ca.pem") != nil
        {
            (chain, key) = (kept.certificatesPEM, kept.keyPEM)
            return
        }
        let authority = try Self.authority(folder, maker)
        (chain, key) = try rethrowing(as: { _ in OperatorError.keyNotGenerated }) { () throws(PrivateKeyError) in
            let key = try PrivateKey.generate()
            let leaf = try maker.server(key, names: all, issuer: authority)
            return (leaf + authority.certificate, key.pem)
        }
        try folder.write("tls.pem", text: chain)
        try folder.write("tls.key", text: key)
    }

    /// The saved certificates of this name and their key; nil if one file is missing.
    ///
    /// Damaged files are refused, not replaced.
    private static func kept(
        _ name: String, count: Int, _ folder: StateFolder
    ) throws(OperatorError) -> ServerCredentials? {
        guard let certificates = try folder.read(text: "\(name).pem"), let key = try folder.read(text: "\(name).key")
        else { return nil }
        do throws(ServerCredentialsError) {
            let kept = try ServerCredentials(certificates: certificates, key: key)
            if kept.certificates.count == count { return kept }
        } catch {
            if error == .unreadableKey { throw .unreadable(file: folder.file("\(name).key")) }
        }
        throw .unreadable(file: folder.file("\(name).pem"))
    }

    /// The certificate authority, which is made once.
    private static func authority(
        _ folder: StateFolder, _ maker: CertificateMaker
    ) throws(OperatorError) -> (key: PrivateKey, certificate: String) {
        if let kept = try kept("ca", count: 1, folder) {
            guard let key = try? PrivateKey(pem: kept.keyPEM) else { throw .unreadable(file: folder.file("ca.key")) }
            return (key, kept.certificatesPEM)
        }
        let (key, certificate) = try rethrowing(as: { _ in OperatorError.keyNotGenerated }) {
            () throws(PrivateKeyError) in
            let key = try PrivateKey.generate()
            return (key, try maker.authority(key, name: issuer))
        }
        try folder.write("ca.key", text: key.pem)
        try folder.write("ca.pem", text: certificate, mode: 0o644)
        return (key, certificate)
    }
}

extension ClientCertificate {
    /// The certificate of a folder, made with its key if `client.pem` is missing.
    static func kept(in folder: StateFolder, _ time: any TimeSource) throws(OperatorError) -> ClientCertificate {
        let maker = CertificateMaker(now: time.wallMilliseconds / 1000)
        var text = try folder.read(text: "client.pem")
        if text == nil {
            text = try rethrowing(as: { _ in OperatorError.keyNotGenerated }) { () throws(PrivateKeyError) in
                let key = try PrivateKey.generate()
                return try maker.client(key) + key.pem
            }
            try folder.write("client.pem", text: text ?? "")
        }
        let end = "-----END CERTIFICATE-----"
        guard let range = text?.firstRange(of: end),
            let certificate = ClientCertificate(String(text?[..<range.upperBound] ?? ""))
        else { throw .unreadable(file: folder.file("client.pem")) }
        return certificate
    }
}

/// Makes the certificates of the mock's own https (RFC 5280), strict enough for the strictest client.
struct CertificateMaker: Sendable {
    /// Now, in seconds since 1970.
    let now: Int64

    private static let day: Int64 = 86400
    private static let subjectKey = "subjectKeyIdentifier = hash"

    /// A self-signed certificate authority in PEM, for ten years.
    func authority(_ key: PrivateKey, name: String) throws(PrivateKeyError) -> String {
        let extensions = [
            "basicConstraints = critical, CA:TRUE, pathlen:0", "keyUsage = critical, keyCertSign, cRLSign",
            Self.subjectKey,
        ]
        return try certificate(key, name, serial: Self.serial(), days: 3650, extensions).selfSigned()
    }

    /// The self-signed certificate of a client in PEM, for ten years.
    func client(_ key: PrivateKey) throws(PrivateKeyError) -> String {
        try certificate(key, "mock-authority client", serial: Self.serial(), days: 3650, [Self.subjectKey]).selfSigned()
    }

    /// The certificate of a server of these names in PEM, for a year: Mozilla's configuration allows no more.
    func server(
        _ key: PrivateKey, names: [String], issuer: (key: PrivateKey, certificate: String)
    ) throws(PrivateKeyError) -> String {
        let extensions = [
            "basicConstraints = critical, CA:FALSE", "keyUsage = critical, digitalSignature, keyEncipherment",
            "extendedKeyUsage = serverAuth", "subjectAltName = \(names.map(Self.alternative).joined(separator: ", "))",
            "authorityKeyIdentifier = keyid:always", Self.subjectKey,
        ]
        return try certificate(key, names[0], serial: Self.serial(), days: 365, extensions)
            .signed(by: issuer.certificate, issuer.key)
    }

    /// The self-signed certificate of a token signing key in DER, as Microsoft's key sets have one in `x5c`.
    ///
    /// It depends on the key and the time only, since its hash is the name of the key.
    func tokenSigning(_ key: PrivateKey, name: String) throws(PrivateKeyError) -> [UInt8] {
        let serial = [0x40] + SHA256.digest(key.modulus).prefix(7)
        let pem = try certificate(key, name, serial: serial, days: 1826, [Self.subjectKey]).selfSigned()
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Base64.decodeLenient(lines.joined()) ?? []
    }

    private func certificate(
        _ key: PrivateKey, _ name: String, serial: [UInt8], days: Int64, _ extensions: [String]
    ) -> NewCertificate {
        NewCertificate(
            name: name, key: key, serial: serial, notBefore: now - Self.day, notAfter: now + days * Self.day,
            extensions: extensions)
    }

    private static func serial() -> [UInt8] {
        var serial = SecureRandom.bytes(16)
        serial[0] = serial[0] & 0x7F | 0x40
        return serial
    }

    private static func alternative(_ name: String) -> String {
        "\(IPAddress(name) == nil ? "DNS" : "IP"):\(name)"
    }
}
