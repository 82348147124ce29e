internal import OpenSSL
package import Platform

/// The certificate with which the authority serves https, and the authority behind it, made once and kept.
package struct ServerCertificate: Sendable, Equatable {
    /// The server's certificate and its authority's, in PEM.
    package let chain: String
    /// The server's private key, in PEM.
    package let key: String
    /// Where the certificate is that clients shall trust.
    package let authorityFile: String

    private static let issuer = "mock-authority local CA"

    /// Reads the certificate of a folder, or makes one there if it is missing, too old, or lacks a name.
    ///
    /// - Parameters:
    ///   - folder: where `ca.pem`, `ca.key`, `tls.pem`, `tls.key` and `tls.names` are.
    ///   - names: what clients may call the server beside localhost, 127.0.0.1 and ::1.
    ///   - time: now.
    /// - Throws: ``StateFolderError``.
    package init(in folder: StateFolder, names: [String], time: any TimeSource) throws(StateFolderError) {
        let now = time.wallMilliseconds / 1000
        let all = ["localhost", "127.0.0.1", "::1"] + names
        authorityFile = folder.file("ca.pem")
        if let kept = try Self.kept(folder, all, now) {
            (chain, key) = kept
            return
        }
        let maker = CertificateMaker(now: now)
        let authority = try Self.authority(folder, maker)
        do throws(RSAError) {
            let key = try RSAPrivateKey.generate()
            let leaf = try maker.server(key, names: all, issuer: Self.issuer, signer: authority.key)
            self.key = key.pem
            chain = leaf + authority.certificate
        } catch {
            throw .key
        }
        try Self.write(folder, "tls.pem", chain)
        try Self.write(folder, "tls.key", key)
        try Self.write(folder, "tls.names", Self.label(all, now))
    }

    /// When it was made and for whom, on one line.
    private static func label(_ names: [String], _ now: Int64) -> String {
        "\(now) \(names.joined(separator: " "))"
    }

    /// A certificate that has a month yet, for these names.
    private static func kept(
        _ folder: StateFolder, _ names: [String], _ now: Int64
    ) throws(StateFolderError) -> (chain: String, key: String)? {
        guard let label = try text(folder, "tls.names"), let chain = try text(folder, "tls.pem"),
            let key = try text(folder, "tls.key"), try text(folder, "ca.pem") != nil,
            let made = label.words.first.flatMap({ Int64($0) }), (made - 86400...made + 360 * 86400).contains(now),
            label.words.dropFirst().elementsEqual(names)
        else { return nil }
        try checkCertificates(chain, count: 2, "tls.pem", folder)
        _ = try self.key(key, "tls.key", folder)
        return (chain, key)
    }

    /// The certificate that clients trust, and its key; never made anew in the place of files that are damaged.
    private static func authority(
        _ folder: StateFolder, _ maker: CertificateMaker
    ) throws(StateFolderError) -> (key: RSAPrivateKey, certificate: String) {
        if let pem = try text(folder, "ca.key"), let certificate = try text(folder, "ca.pem") {
            try checkCertificates(certificate, count: 1, "ca.pem", folder)
            return (try key(pem, "ca.key", folder), certificate)
        }
        let (key, certificate) = try newAuthority(maker)
        try write(folder, "ca.key", key.pem)
        try write(folder, "ca.pem", certificate, mode: 0o644)
        return (key, certificate)
    }

    private static func newAuthority(
        _ maker: CertificateMaker
    ) throws(StateFolderError) -> (key: RSAPrivateKey, certificate: String) {
        do throws(RSAError) {
            let key = try RSAPrivateKey.generate()
            return (key, try maker.authority(key, name: issuer))
        } catch {
            throw .key
        }
    }

    private static func key(
        _ pem: String, _ name: String, _ folder: StateFolder
    ) throws(StateFolderError) -> RSAPrivateKey {
        do throws(RSAError) {
            return try RSAPrivateKey(pem: pem)
        } catch {
            throw .unreadable(file: folder.file(name))
        }
    }

    /// Refuses a file that was cut or changed into something else.
    private static func checkCertificates(
        _ pem: String, count: Int, _ name: String, _ folder: StateFolder
    ) throws(StateFolderError) {
        let marks = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"]
        let counts = marks.map { pem.split(separator: $0, omittingEmptySubsequences: false).count - 1 }
        guard counts == [count, count] else { throw .unreadable(file: folder.file(name)) }
    }

    private static func text(_ folder: StateFolder, _ name: String) throws(StateFolderError) -> String? {
        do throws(SystemError) {
            return try folder.read(name).map { String(decoding: $0, as: UTF8.self) }
        } catch {
            throw .system(error)
        }
    }

    private static func write(
        _ folder: StateFolder, _ name: String, _ text: String, mode: UInt32 = 0o600
    ) throws(StateFolderError) {
        do throws(SystemError) {
            try folder.write(name, Array(text.utf8), mode: mode)
        } catch {
            throw .system(error)
        }
    }
}
