import HTTP
import HTTPServer
@testable import MockAuthority
import OpenSSL
import Platform
import Support
import Testing

/// Certificates as other programs check them; OpenSSL's own program refuses bad encodings.
@Suite("Strict clients accept the https of the authority")
struct SecureServerTests {
    @Test func `OpenSSL connects, verifies chain and name strictly, and gets a response`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        let certificate = try ServerCertificate(
            in: try StateFolder(path), names: ["mock.test", "192.0.2.7"], time: SystemTime())
        let server = try HTTPServer(
            port: 0, tls: TLSIdentity(certificates: certificate.chain, key: certificate.key),
            handler: AuthorityHandler(MockAuthority(keyGenerator: .prepared(SharedKeys.all)), scheme: "https"))
        defer { server.stop(patience: .zero) }
        for name in ["localhost", "mock.test"] {
            let answer = try run(
                "printf 'GET /_mock/token/bad HTTP/1.1\\r\\nHost: \(name)\\r\\nConnection: close\\r\\n\\r\\n' | "
                    + "timeout 10 openssl s_client -quiet -x509_strict -verify_return_error "
                    + "-verify_hostname \(name) -CAfile \(path)/ca.pem -connect 127.0.0.1:\(server.port) 2>&1")
            #expect(answer.contains("HTTP/1.1 200"), "\(answer)")
        }
        #expect(
            try run("openssl verify -x509_strict -verify_ip 192.0.2.7 -CAfile \(path)/ca.pem \(path)/tls.pem 2>&1")
                .contains("tls.pem: OK"))
    }

    /// What a command of the shell prints.
    private func run(_ command: String) throws -> String {
        let shell = try ChildProcess("/bin/sh", ["-c", command])
        _ = try shell.wait()
        return shell.output
    }
}
