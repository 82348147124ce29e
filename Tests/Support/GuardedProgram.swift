import Glibc
import Platform
import Synchronization
import Testing

/// Runs programs that refuse to run as root, as another user if need be.
///
/// A shell looks for the process of the tests twice a second, and ends the program when that process is gone.
enum GuardedProgram {
    /// The start of a command line that make it run as a user who is not root.
    static var unprivileged: [String] {
        guard getuid() == 0 else { return [] }
        return ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    }

    /// The command that gives a folder to that user; empty if it is ours already.
    static func give(_ path: String) -> String { unprivileged.isEmpty ? "true" : "chown -R postgres: \(path)" }

    /// Starts the program; SIGTERM to the shell sends the signal to the program and waits for its end.
    ///
    /// The folder, where its `log` is, and the one of the shell's own output are removed when this process is gone.
    static func start(
        _ command: String, in folder: String, environment: [String: String] = [:], endedBy signal: String
    ) throws -> ChildProcess {
        // A shell that waits for a sleep in the background handles a signal at once, and one that sleeps does not.
        let variables = environment.map { "\($0)=\($1)" }.joined(separator: " ")
        let script = """
            /usr/bin/env \(variables) \(unprivileged.joined(separator: " ")) \(command) >>\(folder)/log 2>&1 &
            server=$!
            trap 'kill -\(signal) $server; wait $server; exit' TERM
            while [ -d /proc/\(getpid()) ] && [ -d /proc/$server ]; do sleep 0.5 & wait $!; done
            kill -\(signal) $server 2>/dev/null
            [ -d /proc/\(getpid()) ] && exit
            wait $server
            output=$(readlink /proc/$$/fd/1)
            case $output in \(ChildProcess.temporaryFolders)*/out) rm -rf "${output%/out}" ;; esac
            rm -rf \(folder)
            """
        return try ChildProcess("/bin/sh", ["-c", script])
    }

    /// Ends the program that the shell started, and waits for both.
    static func end(_ shell: ChildProcess) {
        shell.send(SIGTERM)
        do {
            _ = try shell.wait()
        } catch {
            Issue.record(error, "a server does not end")
        }
    }

    /// What the program wrote to its log.
    static func log(in folder: String) -> String {
        (try? File.read("\(folder)/log")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Waits until the program that a shell started is ready.
    ///
    /// - Throws: its log, if it ended instead, or is not ready in time.
    static func await(
        _ name: String, _ shell: borrowing Mutex<ChildProcess>, in folder: String, until isReady: () throws -> Bool
    ) throws {
        let last = ContinuousClock.now + patience
        while ContinuousClock.now < last, shell.withLock({ !$0.isOver }) {
            if try isReady() { return }
            usleep(20_000)
        }
        throw ChildProcess.Failure(description: "\(name) does not start; \(log(in: folder))")
    }
}
