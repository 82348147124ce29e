import Glibc
import Platform

/// A PostgreSQL server whose tables are in a folder that `scripts/full-disk.c` can make a full disk.
package final class SmallDisk: Sendable {
    /// The server; the database that can be full is `tasks`.
    package let server: PostgreSQLServer
    private let folder: String
    private var tables: String { "\(folder)/tables" }

    /// A server of its own, with room.
    package init() throws {
        folder = try ChildProcess.temporaryFolder()
        let library = try PreloadedLibrary.compile("full-disk", into: folder)
        let script = """
            set -e
            mkdir \(folder)/tables
            chmod 755 \(folder)
            if [ $(id -u) = 0 ]; then chown postgres: \(folder)/tables; fi
            """
        let making = try ChildProcess("/bin/sh", ["-c", script])
        guard try making.wait() == .exit(0) else {
            throw ChildProcess.Failure(description: "\(folder)/tables: \(making.errors)")
        }
        server = try PostgreSQLServer(environment: ["LD_PRELOAD": library, "FULL_DISK": "\(folder)/tables"])
        try server.command("CREATE TABLESPACE small LOCATION '\(folder)/tables'")
        try server.command("CREATE DATABASE tasks TABLESPACE small")
    }

    deinit {
        server.stop()
        _ = try? ChildProcess("/bin/rm", ["-rf", folder]).wait()
    }

    /// Makes the disk full: from now on no file of the database may grow.
    package func fill() throws { try File.replace("\(tables).full", with: []) }

    /// Makes room again.
    package func makeRoom() { File.remove("\(tables).full") }
}
