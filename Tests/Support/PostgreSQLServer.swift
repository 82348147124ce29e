import Glibc
import Platform
import Synchronization

/// A PostgreSQL server of the tests' own: Debian's programs, an unprivileged user, a free port, a folder of its own.
///
/// It ends with this process, however that ends.
package final class PostgreSQLServer: Sendable {
    /// Where it listens, on 127.0.0.1.
    package let port: Int
    /// Its folder; the database cluster is `data` in it.
    package let folder: String
    private let environment: [String: String]
    private let watchdog: Mutex<ChildProcess>
    private let number = Atomic(0)

    /// The name of a role that needs a password at the shared server.
    package static let asked = "asked"

    /// The folder of the newest release that is installed.
    private static let programs: String = {
        let release = (15...99).last { access("/usr/lib/postgresql/\($0)/bin/initdb", X_OK) == 0 }
        return "/usr/lib/postgresql/\(release ?? 15)/bin"
    }()
    private static let shared = Result {
        // What a test that gives up leaves locked is free after a while, so its sessions do not pile up.
        try PostgreSQLServer(
            settings: ["max_connections=600", "idle_in_transaction_session_timeout=5min"],
            access: ["host all \(asked) all scram-sha-256"])
    }

    /// The server that all tests share, started by the first of them.
    package static func started() throws -> PostgreSQLServer { try shared.get() }

    /// A server of one test.
    ///
    /// The settings are lines of postgresql.conf; the lines of access go before those of pg_hba.conf that let everyone
    /// in.
    package convenience init(
        settings: [String] = [], access: [String] = [], environment: [String: String] = [:]
    ) throws {
        try self.init(settings: settings, environment: environment) { data in
            """
            initdb -D \(data) -U test -A trust -E UTF8 --locale=C --no-sync >&2
            { \(access.map { "echo '\($0)'; " }.joined()) cat \(data)/pg_hba.conf; } > \(data)/access
            cat \(data)/access > \(data)/pg_hba.conf
            """
        }
    }

    /// A copy of a server that follows it and takes no writes, known to it by this name.
    package convenience init(following primary: PostgreSQLServer, as name: String) throws {
        try self.init(settings: [], environment: [:]) { data in
            """
            pg_basebackup -D \(data) -R -X stream -c fast --no-sync \
                -d '\(primary.address())&application_name=\(name)' >&2
            """
        }
    }

    private init(
        settings: [String], environment: [String: String], making: (_ data: String) -> String
    ) throws {
        let port = try freePort()
        self.port = port
        self.environment = environment
        let folder = try ChildProcess.temporaryFolder()
        self.folder = folder
        guard access("\(Self.programs)/initdb", X_OK) == 0 else {
            throw ChildProcess.Failure(description: "PostgreSQL is missing; install it: scripts/install test")
        }
        chmod(folder, 0o755)
        let lines = ["listen_addresses='127.0.0.1'", "port=\(port)", "unix_socket_directories=''"] + settings
        let configuration = lines.map { "echo \"\($0)\" >> \(folder)/data/postgresql.conf" }
        let user = GuardedProgram.unprivileged.joined(separator: " ")
        let script = """
            set -e
            mkdir -m 700 \(folder)/data
            \(GuardedProgram.give("\(folder)/data"))
            PATH=\(Self.programs):$PATH exec \(user) /bin/sh -e <<'END'
            \(making("\(folder)/data"))
            \(configuration.joined(separator: "\n"))
            END
            """
        try ChildProcess.run(script: script)
        watchdog = Mutex(try Self.run(folder, environment))
        try awaitReadiness()
    }

    deinit {
        stop()
        _ = try? ChildProcess("/bin/rm", ["-rf", folder]).wait()
    }

    private static func run(_ folder: String, _ environment: [String: String]) throws -> ChildProcess {
        try GuardedProgram.start(
            "\(programs)/postgres -D \(folder)/data", in: folder, environment: environment, endedBy: "QUIT")
    }

    /// Waits until it accepts connections.
    package func awaitReadiness() throws {
        try GuardedProgram.await("PostgreSQL", watchdog, in: folder) {
            try ChildProcess("\(Self.programs)/pg_isready", ["-q", "-h", "127.0.0.1", "-p", "\(port)"]).wait()
                == .exit(0)
        }
    }

    /// What it wrote to its log.
    package var log: String {
        GuardedProgram.log(in: folder)
    }

    /// Ends it in order.
    package func stop() {
        watchdog.withLock { GuardedProgram.end($0) }
    }

    /// Kills all processes at once, as a power cut would, except that the system keeps what they wrote to files.
    package func kill9() throws {
        // The first process is stopped, so that it starts no further process before the kill. A new server refuses to
        // start while one of the old processes is there.
        let script = """
            await() { until grep -qs "^State:.[$2]" /proc/$1/status || ! [ -d /proc/$1 ]; do sleep 0.01; done; }
            first=$(head -n 1 \(folder)/data/postmaster.pid)
            kill -STOP $first
            await $first T
            all="$first $(cat /proc/$first/task/*/children)"
            kill -KILL $all
            for each in $all; do await $each ZX; done
            """
        try ChildProcess.run(script: script)
        watchdog.withLock { watchdog in _ = try? watchdog.wait() }
    }

    /// Starts it again after ``stop()`` or ``kill9()``.
    package func startAgain() throws {
        try watchdog.withLock { $0 = try Self.run(folder, environment) }
        try awaitReadiness()
    }

    /// Makes a server that follows another one take writes.
    package func promote() throws {
        // The statement waits until the server takes writes.
        guard try command("SELECT pg_promote(true, 60)") == "t\n" else {
            throw ChildProcess.Failure(description: "not promoted; \(log)")
        }
    }

    /// The connection string of a database.
    package func address(_ database: String = "postgres", user: String = "test") -> String {
        Self.address("\(user)@127.0.0.1:\(port)/\(database)")
    }

    /// A connection string for a test: a busy machine may take much longer to connect than a store waits by default.
    package static func address(_ place: String, _ rest: String = "sslmode=disable", seconds: Int = 180) -> String {
        "postgresql://\(place)?\(rest)&connect_timeout=\(seconds)"
    }

    /// The name of the database in a connection string.
    package static func name(of address: String) -> String {
        String(address.split(separator: "/").last?.prefix { $0 != "?" } ?? "")
    }

    /// The connection string of a new, empty database.
    package func newDatabase() throws -> String { address(try newDatabaseName()) }

    /// The name of a new, empty database.
    package func newDatabaseName() throws -> String {
        let name = "db\(number.add(1, ordering: .relaxed).newValue)"
        try command("CREATE DATABASE \(name)")
        return name
    }

    /// Waits until a question is answered with true.
    package func await(_ question: String) throws {
        let last = ContinuousClock.now + patience
        while ContinuousClock.now < last {
            if try command(question) == "t\n" { return }
            usleep(20_000)
        }
        throw ChildProcess.Failure(description: "never true: \(question)")
    }

    /// Runs a line of bash with PostgreSQL's programs, and the connection string of a database in `$DATABASE`.
    package static func run(_ line: String, of address: String) throws {
        let paths = "export PATH=\(programs):$PATH DATABASE='\(address)'"
        try ChildProcess.run(script: "set -e -o pipefail; \(paths); \(line)")
    }

    /// Runs statements with psql, and returns what they print, without headers.
    @discardableResult
    package func command(_ sql: String, in database: String = "postgres") throws -> String {
        try ChildProcess.run(
            "\(Self.programs)/psql", ["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address(database), "-c", sql])
    }
}

/// A port of 127.0.0.1 that is not in use now.
///
/// The system gives clients ports of a higher range, so that no client takes this port in between.
package func freePort() throws(ChildProcess.Failure) -> Int {
    for _ in 0..<100 {
        let port = UInt16.random(in: 15_000...30_000)
        if isFree(port) { return Int(port) }
    }
    throw ChildProcess.Failure(description: "no free port")
}

private func isFree(_ port: UInt16) -> Bool {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(number) }
    return withLoopback(port) { bind(number, $0, $1) } == 0
}
