import Platform
import Support
import Testing

@Suite("A server that speaks TLS itself", .timeLimit(.minutes(15))) struct TransportTests {
    @Test(arguments: ["-tls1_1", "-tls1_2"])
    func `An authority is not asked over TLS 1.1, whatever the configuration of OpenSSL allows (V-75)`(
        version: String
    ) throws {
        let stage = try Stage()
        _ = try stage.makeCertificate()
        let lax = """
            openssl_conf = a
            [a]
            ssl_conf = b
            [b]
            system_default = c
            [c]
            CipherString = DEFAULT:@SECLEVEL=0
            MinProtocol = TLSv1
            """
        try File.replace("\(stage.folder)/lax.cnf", with: Array(lax.utf8))
        let port = try freePort()
        let line = """
            cd \(stage.folder) && exec openssl s_server -accept 127.0.0.1:\(port) -key tls.key -cert tls.pem -www \
            \(version) -cipher DEFAULT:@SECLEVEL=0
            """
        let server = try ChildProcess("/bin/bash", ["-c", line])
        _ = try server.await { $0.contains("ACCEPT") ? true : nil }
        let (end, output, _) = try stage.run(
            ["check"],
            [
                "TASKS_AUTHORITY": "https://127.0.0.1:\(port)/\(Stage.tenant)", "TASKS_POLICIES": "b2c_1_sign_in",
                "TASKS_CA_FILE": "\(stage.folder)/tls.pem", "OPENSSL_CONF": "\(stage.folder)/lax.cnf",
            ])
        // With TLS 1.2 there is an answer, which is no metadata.
        let isRefused = output.contains("the server must offer TLS 1.2 or newer")
        #expect(end == .exit(1) && isRefused == (version == "-tls1_1"), "\(output)")
    }
}
