package import Basics
import OpenSSL
package import Platform

/// The certificate for https and the certificate authority that signed it, made once and saved.
package struct ServerCertificate: Sendable, Equatable {
    /// The server's certificate and its authority's, in PEM.
    package let chain: String
    package let key: String
    /// The path of the certificate that clients must trust.
    package let authorityFile: String

    private static let issuer = "mock-authority local CA"

    /// Reads the certificate of a folder, or makes one if it is missing, too old, or lacks a name.
    ///
    /// - Parameters:
    ///   - folder: where `ca.pem`, `ca.key`, `tls.pem`, `tls.key` and `tls.names` are.
    ///   - names: more names of the server, in addition to localhost, 127.0.0.1 and ::1.
    ///   - time: dates the certificate.
    /// - Throws: why the folder cannot be used.
    package init(in folder: StateFolder, names: [String], time: any TimeSource) throws(OperatorError) {
        let now = time.wallMilliseconds / 1000
        let all = ["localhost", "127.0.0.1", "::1"] + names
        authorityFile = folder.file("ca.pem")
        if let kept = try Self.kept(folder, all, now) {
            (chain, key) = kept
            return
        }
        let maker = CertificateMaker(now: now)
        let authority = try Self.authority(folder, maker)
        (chain, key) = try rethrowing(as: { _ in OperatorError.keyNotGenerated }) { () throws(PrivateKeyError) in
            let key = try PrivateKey.generate()
            let leaf = try maker.server(key, names: all, issuer: authority)
            return (leaf + authority.certificate, key.pem)
        }
        try folder.write("tls.pem", text: chain)
        try folder.write("tls.key", text: key)
        try folder.write("tls.names", text: Self.label(all, now))
    }

    /// The content of `tls.names`: the time of the certificate and its names.
    private static func label(_ names: [String], _ now: Int64) -> String {
        "\(now) \(names.joined(separator: " "))"
    }

    /// The saved certificate, if it is valid for another month and has these names.
    private static func kept(
        _ folder: StateFolder, _ names: [String], _ now: Int64
    ) throws(OperatorError) -> (chain: String, key: String)? {
        guard let label = try folder.read(text: "tls.names"), let chain = try folder.read(text: "tls.pem"),
            let key = try folder.read(text: "tls.key"), try folder.read(text: "ca.pem") != nil,
            let made = label.spaceSeparated.first.flatMap({ Int64($0) }),
            (made - 86400...made + 360 * 86400).contains(now),
            label.spaceSeparated.dropFirst().elementsEqual(names)
        else { return nil }
        try checkCertificates(chain, count: 2, "tls.pem", folder)
        _ = try self.key(key, "tls.key", folder)
        return (chain, key)
    }

    /// The certificate authority; damaged files are refused, not replaced.
    private static func authority(
        _ folder: StateFolder, _ maker: CertificateMaker
    ) throws(OperatorError) -> (key: PrivateKey, certificate: String) {
        if let pem = try folder.read(text: "ca.key"), let certificate = try folder.read(text: "ca.pem") {
            try checkCertificates(certificate, count: 1, "ca.pem", folder)
            return (try key(pem, "ca.key", folder), certificate)
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

    private static func key(_ pem: String, _ name: String, _ folder: StateFolder) throws(OperatorError) -> PrivateKey {
        let unreadable = OperatorError.unreadable(file: folder.file(name))
        return try rethrowing(as: { _ in unreadable }) { () throws(PrivateKeyError) in try PrivateKey(pem: pem) }
    }

    /// Refuses a file that was cut or replaced.
    private static func checkCertificates(
        _ pem: String, count: Int, _ name: String, _ folder: StateFolder
    ) throws(OperatorError) {
        let marks = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"]
        let counts = marks.map { pem.split(separator: $0, omittingEmptySubsequences: false).count - 1 }
        guard counts == [count, count] else { throw .unreadable(file: folder.file(name)) }
    }
}
