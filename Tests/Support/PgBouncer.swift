import Glibc
import Platform
import Synchronization

/// PgBouncer in transaction mode before a server: every transaction may get another of its few sessions.
package final class PgBouncer: Sendable {
    /// Where it listens, on 127.0.0.1.
    package let port: Int
    private let folder: String
    private let watchdog: Mutex<ChildProcess>
    private let server: PostgreSQLServer

    /// Whether it keeps its clients' prepared statements, so that they need not notice that they share sessions.
    package let keepsStatements: Bool

    private static let program = "/usr/sbin/pgbouncer"
    private static let shared = Result { try PgBouncer(before: PostgreSQLServer.started(), sessions: 2) }

    /// The PgBouncer that all tests share, which has fewer sessions than a store wants.
    package static func started() throws -> PgBouncer { try shared.get() }

    /// Starts a PgBouncer for one test, with this many sessions for each database.
    ///
    /// If it is `forgetting`, a session loses its state after each transaction. PgBouncer keeps statements since 1.21,
    /// and is asked not to unless it is `keeping`.
    package init(
        before server: PostgreSQLServer, sessions: Int, forgetting: Bool = false, keeping: Bool = true
    ) throws {
        let port = try freePort()
        (self.port, self.server) = (port, server)
        let folder = try ChildProcess.temporaryFolder()
        self.folder = folder
        guard access(Self.program, X_OK) == 0 else {
            throw ChildProcess.Failure(description: "PgBouncer is missing; install it: scripts/install test")
        }
        chmod(folder, 0o755)
        let version = try ChildProcess.run(Self.program, ["--version"]).split { !$0.isNumber }
        let canKeep = version.count > 1 && (Int(version[1]) ?? 0) >= 21
        keepsStatements = keeping && canKeep
        let settings = """
            [databases]
            * = host=127.0.0.1 port=\(server.port) user=test
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = \(sessions)
            max_client_conn = 500
            server_reset_query_always = \(forgetting ? 1 : 0)
            server_login_retry = 0.1
            \(canKeep ? "max_prepared_statements = \(keeping ? 200 : 0)" : "")
            """
        try File.replace("\(folder)/settings", with: Array(settings.utf8), mode: 0o644)
        watchdog = Mutex(try Self.run(folder))
        try awaitReadiness()
    }

    deinit {
        kill9()
        for name in ["settings", "log"] { File.remove("\(folder)/\(name)") }
        rmdir(folder)
    }

    private static func run(_ folder: String) throws -> ChildProcess {
        try GuardedProgram.start("\(program) \(folder)/settings", in: folder, endedBy: "KILL")
    }

    /// Kills PgBouncer, which ends every session through it.
    package func kill9() {
        watchdog.withLock { GuardedProgram.end($0) }
    }

    /// Starts it again after ``kill9()``.
    package func startAgain() throws {
        try watchdog.withLock { $0 = try Self.run(folder) }
        try awaitReadiness()
    }

    private func awaitReadiness() throws {
        try GuardedProgram.await("PgBouncer", watchdog, in: folder) { (try? RawClient(port: UInt16(port))) != nil }
    }

    /// The connection string of a database of the server through PgBouncer.
    package func address(_ database: String) -> String {
        PostgreSQLServer.address("test@127.0.0.1:\(port)/\(database)")
    }

    /// The connection string of a new, empty database through PgBouncer.
    package func newDatabase() throws -> String { address(try server.newDatabaseName()) }
}
