import MicroHTTPD
import Platform
import Settings

/// Whether the server speaks TLS itself, without a proxy in front.
struct TransportSettings: Sendable {
    private let certificate: String?
    private let key: String?

    init(reading reader: inout SettingReader) {
        certificate = reader.optional(
            "TLS_CERT", .path, absence: "plain HTTP", help: "The server's certificates (PEM), its own first, for TLS.")
        key = reader.optional("TLS_KEY", .path, absence: "plain HTTP", help: "The private key (PEM) to TASKS_TLS_CERT.")
        if (certificate == nil) != (key == nil) {
            reader.mistake("TASKS_TLS_CERT and TASKS_TLS_KEY belong together; set both, or none for plain HTTP.")
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
