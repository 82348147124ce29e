import MicroHTTPD
import Platform
import Settings

/// Whether the server speaks TLS itself, without a proxy in front, and the address by which clients reach it.
struct TransportSettings: Sendable {
    /// As clients write it, without a slash at its end; nil where it is not known.
    let publicAddress: WebAddress?
    private let certificate: String?
    private let key: String?

    init(reading reader: inout SettingReader) {
        publicAddress = reader.optional(
            "PUBLIC_URL", .webAddress(example: "https://tasks.example.com"), absence: "only known on this machine",
            help: "The address by which clients reach the server, through the proxy if there is one.")
        certificate = reader.optional(
            "TLS_CERT", .path, absence: "plain HTTP", help: "The server's certificates (PEM), its own first, for TLS.")
        key = reader.optional("TLS_KEY", .path, absence: "plain HTTP", help: "The private key (PEM) to TASKS_TLS_CERT.")
        if (certificate == nil) != (key == nil) {
            reader.mistake("TASKS_TLS_CERT and TASKS_TLS_KEY belong together; set both, or none for plain HTTP.")
        }
        if let publicAddress, !publicAddress.isSecure && !publicAddress.isLoopback || publicAddress.text.contains("?") {
            reader.mistake(
                "TASKS_PUBLIC_URL must begin with https:// (http:// only on this machine) and have no query: tokens are "
                    + "sent there.")
        }
    }

    /// Whether people reach the server by https.
    var isSecure: Bool { certificate != nil }

    /// The texts of both files; nothing for plain HTTP.
    func identity() throws(StartFailure) -> TLSIdentity? {
        guard let certificate, let key else { return nil }
        return TLSIdentity(
            certificates: try Self.text(certificate, "TASKS_TLS_CERT", holding: "-----BEGIN CERTIFICATE-----"),
            key: try Self.text(key, "TASKS_TLS_KEY", holding: "PRIVATE KEY-----"))
    }

    private static func text(_ path: String, _ setting: String, holding mark: String) throws(StartFailure) -> String {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try File.read(path, limit: 1 << 20)
        } catch {
            throw StartFailure(sentence: "\(setting): cannot \(error)")
        }
        let wanted = Array(mark.utf8)
        guard bytes.indices.contains(where: { bytes[$0...].starts(with: wanted) }) else {
            throw StartFailure(sentence: "\(setting): \(path) holds no \(mark); give a file in PEM")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
