import Glibc
import Platform

/// A PostgreSQL server whose tables are in a folder that `scripts/system-faults.c` can make a full disk.
package final class SmallDisk: Sendable {
    /// The server; the database that can be full is `tasks`.
    package let server: PostgreSQLServer
    private let folder: TemporaryFolder
    private var tables: String { folder.file("tables") }

    /// A server of its own, with room.
    package init() throws {
        folder = try TemporaryFolder()
        let tables = folder.file("tables")
        let library = try PreloadedLibrary.compile("system-faults", into: folder.path)
        try ChildProcess.run(
            script: "set -e; mkdir \(tables); chmod 755 \(folder.path); \(GuardedProgram.give(tables))")
        server = try PostgreSQLServer(environment: ["LD_PRELOAD": library, "FULL_DISK": tables])
        try server.command("CREATE TABLESPACE small LOCATION '\(tables)'")
        try server.command("CREATE DATABASE tasks TABLESPACE small")
    }

    deinit { server.stop() }

    /// Makes the disk full: from now on no file of the database may grow.
    package func fill() throws { try File.replace("\(tables).full", with: []) }

    /// Makes room again.
    package func makeRoom() { File.remove("\(tables).full") }
}
