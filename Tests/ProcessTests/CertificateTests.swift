import Support
import Testing

/// A stage with a certificate and further files that `openssl` made for the server.
private struct SecureStage {
    let stage: Stage

    init(_ script: String = "") throws {
        stage = try Stage()
        _ = try stage.makeCertificate()
        try ChildProcess.run(
            script: "set -e\ncd \(stage.folder)\nsan=subjectAltName=DNS:localhost,IP:127.0.0.1\n\(script)")
    }

    func settings(_ certificate: String = "tls.pem", _ key: String = "tls.key") -> [String: String] {
        [
            "TASKS_TLS_CERT": "\(stage.folder)/\(certificate)", "TASKS_TLS_KEY": "\(stage.folder)/\(key)",
            "TASKS_ADMIN_LISTEN": "off",
        ]
    }

    /// Runs `check`, and returns how it ended and what it found about TLS.
    func check(_ certificate: String = "tls.pem", _ key: String = "tls.key") throws -> (ChildProcess.End, [String]) {
        let (end, output, _) = try stage.run(["check"], settings(certificate, key))
        return (end, output.split(separator: "\n").map(String.init).filter { $0.contains(" TLS: ") })
    }

    /// Starts a server that serves TLS, and returns its port when it listens.
    func start(_ changes: [String: String]) throws -> (process: ChildProcess, port: UInt16) {
        let process = try stage.start(changes)
        return (process, try process.await { Stage.port(after: "\"listen\":\"127.0.0.1:", in: $0) })
    }

    func stop(_ process: ChildProcess) throws -> ChildProcess.End {
        process.send(15)
        return try process.wait()
    }
}

/// `openssl ca` makes it, because `openssl x509` of OpenSSL 3.5 takes no negative number of days, and that of 3.0 no
/// dates.
private let expired = """
    openssl req -new -key tls.key -subj /CN=localhost -out tls.csr
    printf '%s\\n' '[ca]' default_ca=x '[x]' database=index rand_serial=yes new_certs_dir=. default_md=sha256 policy=p '[p]' commonName=supplied >ca.cnf
    : >index
    openssl ca -config ca.cnf -batch -selfsign -keyfile tls.key -in tls.csr -extfile <(echo $san) -out old.pem \\
        -startdate 20240101000000Z -enddate 20240201000000Z -notext
    """

@Suite("The certificate of the server") struct CertificateTests {
    @Test func `The command check says for whom a good certificate is, and until when`() throws {
        let (end, lines) = try SecureStage().check()
        #expect(end == .exit(0) && lines.count == 1, "\(lines)")
        let message = lines.first ?? ""
        #expect(message.hasPrefix("good  TLS: the certificate is for localhost, 127.0.0.1, until 20"), "\(message)")
        #expect(message.contains("(29 days)") || message.contains("(30 days)"), "\(message)")
        #expect(!message.contains("renew"), "\(message)")
    }

    @Test func `An expired certificate is found by check, and the server reports it and serves`() throws {
        let secure = try SecureStage(expired)
        let (end, lines) = try secure.check("old.pem")
        #expect(end == .exit(1) && lines.count == 1, "\(lines)")
        #expect(lines.first?.hasPrefix("WRONG TLS: the certificate expired on 20") == true, "\(lines)")
        let (process, port) = try secure.start(secure.settings("old.pem"))
        #expect(
            process.output.contains(
                #""level":"warning","event":"certificate","problem":"the certificate expired on 20"#))
        // The health is good, because a restart would not renew the certificate.
        let listen = ["TASKS_LISTEN": "127.0.0.1:\(port)"].merging(secure.settings("old.pem")) { $1 }
        #expect(try secure.stage.run(["health"], listen).end == .exit(0))
        #expect(try secure.stop(process) == .exit(0))
    }

    @Test func `A certificate that expires soon is reported by check and by the server`() throws {
        let soon = #"openssl req -x509 -subj /CN=localhost -days 5 -key tls.key -out soon.pem -addext "$san""#
        let secure = try SecureStage(soon)
        let (end, lines) = try secure.check("soon.pem")
        #expect(end == .exit(0) && lines.first?.contains("; renew it") == true, "\(lines)")
        let (process, _) = try secure.start(secure.settings("soon.pem"))
        #expect(process.output.contains(#""level":"warning","event":"certificate-expires""#), "\(process.output)")
        #expect(try secure.stop(process) == .exit(0))
        let (good, _) = try secure.start(secure.settings())
        #expect(!good.output.contains("\"certificate"), "\(good.output)")
        #expect(try secure.stop(good) == .exit(0))
    }

    @Test func `Files with which no TLS is possible are found by check, and the server does not start`() throws {
        let secure = try SecureStage(
            """
            openssl genrsa -out other.key 2048
            openssl x509 -in tls.pem -outform DER -out der.pem
            """)
        let pairs = [
            ("tls.pem", "other.key", "other.key is not the key to the certificate in"),
            ("der.pem", "tls.key", "openssl x509 -inform DER -in"),
            ("missing.pem", "tls.key", "TASKS_TLS_CERT: cannot open '\(secure.stage.folder)/missing.pem'"),
            (".", "tls.key", "/.': it is a folder, not a file"),
        ]
        for (certificate, key, message) in pairs {
            let (end, lines) = try secure.check(certificate, key)
            #expect(end == .exit(1) && lines.count == 1, "\(lines)")
            #expect(lines.first?.hasPrefix("WRONG TLS: ") == true && lines.first?.contains(message) == true, "\(lines)")
            let start = try secure.stage.run([], secure.settings(certificate, key))
            #expect(start.end == .exit(1) && start.errors.contains(message), "\(start.errors)")
        }
    }

    @Test func `A server is reached by https, with key and certificate in one file, and says so`() throws {
        let secure = try SecureStage(
            """
            openssl ecparam -name prime256v1 -genkey -out ec.key
            openssl req -x509 -subj /CN=localhost -days 30 -key ec.key -out ec.pem -addext "$san"
            cat ec.key ec.pem > all.pem
            """)
        let (process, port) = try secure.start(secure.settings("all.pem", "all.pem"))
        let address = "https://127.0.0.1:\(port)"
        let document = try curl(
            "\(address)/.well-known/oauth-protected-resource", trusting: "\(secure.stage.folder)/all.pem")
        #expect(document.contains("\"resource\":\"\(address)/api/tasks\""), "\(document)")
        #expect(try secure.stop(process) == .exit(0))
    }

    @Test func `The command health asks over TLS where there is no operators' listener`() throws {
        let secure = try SecureStage()
        let (process, port) = try secure.start(secure.settings())
        let listen = ["TASKS_LISTEN": "127.0.0.1:\(port)"].merging(secure.settings()) { $1 }
        let alive = try secure.stage.run(["health"], listen)
        #expect(alive.end == .exit(0) && alive.output == "alive\n" && alive.errors.isEmpty, "\(alive)")
        _ = try process.await { _ in
            try secure.stage.run(["health", "ready"], listen).output == "ready\n" ? true : nil
        }
        // A command without TLS gets no answer from this server, and one with TLS gets none from a server without it.
        let plain = try secure.stage.run(["health"], ["TASKS_LISTEN": "127.0.0.1:\(port)"])
        #expect(plain.end == .exit(1))
        let ofMock = ["TASKS_LISTEN": "127.0.0.1:\(secure.stage.mockPort)"].merging(secure.settings()) { $1 }
        let wrong = try secure.stage.run(["health"], ofMock)
        #expect(wrong.end == .exit(1) && wrong.errors.contains("TLS failed"), "\(wrong.errors)")
        #expect(try secure.stop(process) == .exit(0))
    }
}
