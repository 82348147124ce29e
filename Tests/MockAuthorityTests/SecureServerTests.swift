import Glibc
import HTTP
import HTTPServer
@testable import MockAuthority
import OpenSSL
import Platform
import Support
import Testing

/// Certificates as other programs check them; OpenSSL's own program refuses bad encodings.
@Suite("Strict clients accept the https of the authority", .timeLimit(.minutes(15)))
struct SecureServerTests {
    @Test("OpenSSL connects, verifies chain and name strictly, and gets a response")
    func strict() throws {
        var template = Array("/tmp/mock-tls.XXXXXX".utf8CString)
        _ = try #require(mkdtemp(&template))
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let certificate = try ServerCertificate(
            in: try StateFolder(path), names: ["mock.test", "192.0.2.7"], time: SystemTime())
        let server = try HTTPServer(
            port: 0, tls: TLSIdentity(certificates: certificate.chain, key: certificate.key),
            handler: AuthorityHandler(MockAuthority(keyGenerator: .prepared(SharedKeys.all)), scheme: "https"))
        defer { server.stop(patience: .zero) }
        for name in ["localhost", "mock.test"] {
            let answer = run(
                "printf 'GET /_mock/token/bad HTTP/1.1\\r\\nHost: \(name)\\r\\nConnection: close\\r\\n\\r\\n' | "
                    + "timeout 10 openssl s_client -quiet -x509_strict -verify_return_error "
                    + "-verify_hostname \(name) -CAfile \(path)/ca.pem -connect 127.0.0.1:\(server.port) 2>&1")
            #expect(answer.contains("HTTP/1.1 200"), "\(answer)")
        }
        #expect(
            run("openssl verify -x509_strict -verify_ip 192.0.2.7 -CAfile \(path)/ca.pem \(path)/tls.pem 2>&1")
                .contains("tls.pem: OK"))
        _ = run("rm -r \(path)")
    }

    /// What a command of the shell prints.
    private func run(_ command: String) -> String {
        guard let stream = popen(command, "r") else { return "" }
        defer { pclose(stream) }
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&piece, 1, piece.count, stream), count > 0 { output += piece.prefix(count) }
        return String(decoding: output, as: UTF8.self)
    }
}
