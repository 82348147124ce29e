import Basics
import PostgreSQLStore
import Glibc
import Platform
import Support
import Tasks
import Testing

/// A PostgreSQL server that speaks TLS only, with a certificate for `localhost` by an authority of the test's own.
private final class SecureDatabase {
    let server: PostgreSQLServer
    private let folder: TemporaryFolder
    var authority: String { folder.file("authority.crt") }
    var stranger: String { folder.file("stranger.crt") }

    init() throws {
        folder = try TemporaryFolder()
        let script = """
            set -e
            cd \(folder.path)
            for name in authority stranger; do
                openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=$name" -keyout $name.key -out $name.crt
            done
            openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr
            echo subjectAltName=DNS:localhost > names
            openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 1 \\
                -extfile names -out server.crt
            chmod 755 .
            chmod 600 server.key
            if [ $(id -u) = 0 ]; then chown postgres: server.key; fi
            """
        try ChildProcess.run(script: script)
        server = try PostgreSQLServer(
            settings: [
                "ssl=on", "ssl_cert_file='\(folder.file("server.crt"))'",
                "ssl_key_file='\(folder.file("server.key"))'",
            ],
            access: ["hostnossl secret all all reject"])
        try server.command("CREATE DATABASE secret")
    }

    deinit { server.stop() }

    func address(host: String, trusting certificate: String) -> String {
        PostgreSQLServer.address(
            "test@\(host):\(server.port)/secret", "sslmode=verify-full&sslrootcert=\(certificate)")
    }
}

@Suite("TLS to PostgreSQL")
struct SecureDatabaseTests {
    private let database: SecureDatabase

    init() throws {
        database = try SecureDatabase()
    }

    private func message(_ address: String) -> String {
        thrown { () throws(OperatorError) in try PostgreSQLTaskStore.open(address).close() }?.message ?? "opened"
    }

    @Test func `Every session uses TLS with the server that the certificate names, and with no other`() async throws {
        let good = database.address(host: "localhost", trusting: database.authority)
        let store = try PostgreSQLTaskStore.open(good)
        defer { store.close() }
        let item = try await store.added("secret", of: Owner("alice"))
        #expect(try await store.lists([item], of: Owner("alice")))
        let sessions = try database.server.command(
            """
            SELECT bool_and(ssl), count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'task-server'
            """)
        #expect(sessions == "t|t\n")

        let stranger = message(database.address(host: "localhost", trusting: database.stranger))
        #expect(stranger.contains("certificate verify failed"))
        #expect(stranger.hasSuffix("let sslrootcert name the certificate that signed the server's"))
        let other = message(database.address(host: "127.0.0.1", trusting: database.authority))
        #expect(other.contains("does not match host name \"127.0.0.1\""))
        #expect(other.hasSuffix("name the host as its certificate does"))
        let nothing = message(database.address(host: "localhost", trusting: "/nowhere.crt"))
        #expect(nothing.hasSuffix("correct sslrootcert in TASKS_DATABASE"))
        let plain = message(database.server.address("secret"))
        #expect(plain.hasSuffix("let the server's pg_hba.conf take this user, database, address and encryption"))
        for text in [stranger, other, nothing, plain] {
            #expect(text.hasPrefix("the database postgresql://") && !text.contains("\n"), "\(text)")
        }
    }
}
