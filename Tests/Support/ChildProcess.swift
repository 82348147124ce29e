import Glibc
import Platform

/// A program of this package, or any other, started by a test and ended with it.
///
/// Its output goes to files, so that no full pipe can hold it up.
package final class ChildProcess {
    /// Why a program could not be started, or did not do what was awaited.
    package struct Failure: Error, CustomStringConvertible {
        /// The message, with what the program wrote.
        package let description: String

        /// A failure with this message.
        package init(description: String) {
            self.description = description
        }
    }

    /// How a program ended.
    package enum End: Equatable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    /// The number of the process.
    package let identifier: pid_t
    private let files: String
    private var end: End?

    /// The path of a program that was built with these tests.
    package static func built(_ product: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let parts = path.split(separator: "/")
        // In a bundle of another platform the tests are deeper; here it is the folder of the executable.
        return "/" + (parts.dropLast() + [Substring(product)]).joined(separator: "/")
    }

    /// `posix_spawn_file_actions_addclosefrom_np`, which the header declares for `_GNU_SOURCE` only.
    private static let closeFrom = unsafeBitCast(
        dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"),
        to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)

    /// Starts a program with exactly this environment, and standard input from this text.
    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String] = [:], input: String = ""
    ) throws {
        files = try Self.temporaryFolder()
        try File.replace("\(files)/in", with: Array(input.utf8))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "\(files)/in", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "\(files)/out", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, "\(files)/err", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // Otherwise the program would count descriptors of other tests among its own, and keep them open.
        guard Self.closeFrom(&actions, 3) == 0 else { throw Failure(description: "descriptors cannot be closed") }
        // The settings of sanitizers and coverage must reach the programs, too.
        let inherited = ProcessFacts.environment.filter { name, _ in
            name.hasSuffix("SAN_OPTIONS")
                || ["LLVM_PROFILE_FILE", "PATH", "LD_LIBRARY_PATH", "LD_PRELOAD"].contains(name)
        }
        let variables = inherited.merging(environment) { $1 }.map { "\($0)=\($1)" }
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var lines: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { (words + lines).forEach { free($0) } }
        // The thread of a test may block signals, and a program that inherits that mask does not notice the end of a
        // child.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var number = pid_t()
        let code = posix_spawn(&number, path, &actions, &attributes, &words, &lines)
        guard code == 0 else { throw Failure(description: "cannot start \(path): error \(code)") }
        identifier = number
    }

    deinit {
        if end == nil {
            kill(identifier, SIGKILL)
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
        }
        for name in ["in", "out", "err"] { unlink("\(files)/\(name)") }
        rmdir(files)
    }

    /// What the path of every folder of ``temporaryFolder()`` begins with.
    static let temporaryFolders = "/tmp/task-server-test-"

    /// A new folder of its own, for a test's files.
    package static func temporaryFolder() throws -> String {
        var template = Array("\(temporaryFolders)XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw Failure(description: "no folder in /tmp") }
        return String(cString: path)
    }

    /// The text that the program wrote to standard output so far.
    package var output: String { text("out") }
    /// The text that the program wrote to standard error so far.
    package var errors: String { text("err") }

    private func text(_ name: String) -> String {
        (try? File.read("\(files)/\(name)")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Sends a signal, unless the program has ended: then its number may belong to another process.
    package func send(_ signal: Int32) {
        guard ended == nil else { return }
        kill(identifier, signal)
    }

    /// Waits for the end of the program.
    package func wait(within limit: Duration = patience) throws -> End {
        let last = ContinuousClock.now + limit
        while ContinuousClock.now < last {
            if let end = ended { return end }
            usleep(2000)
        }
        throw Failure(description: "still running after \(limit):\n\(output)\n\(errors)")
    }

    /// Whether the program has ended.
    var isOver: Bool { ended != nil }

    /// How the program ended, or nil if it runs.
    private var ended: End? {
        if let end { return end }
        var status: Int32 = 0
        guard waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
        let signal = status & 0x7F
        end = signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
        return end
    }

    /// Runs a program to its end, and returns what it wrote to standard output.
    @discardableResult
    package static func run(_ path: String, _ arguments: [String]) throws -> String {
        let program = try ChildProcess(path, arguments)
        let end = try program.wait()
        guard end == .exit(0) else {
            throw Failure(description: "\(path) ended with \(end): \(program.output)\(program.errors)")
        }
        return program.output
    }

    /// Runs a script of bash to its end.
    package static func run(script: String) throws { try run("/bin/bash", ["-c", script]) }

    /// Waits until the standard output of the program gives a value.
    package func await<Value>(_ value: (_ output: String) throws -> Value?) throws -> Value {
        let last = ContinuousClock.now + patience
        while ContinuousClock.now < last {
            let end = ended
            if let found = try value(output) { return found }
            if let end { throw Failure(description: "ended with \(end):\n\(output)\n\(errors)") }
            usleep(5000)
        }
        throw Failure(description: "not seen within \(patience):\n\(output)\n\(errors)")
    }
}
