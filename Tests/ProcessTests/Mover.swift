import Basics
import Glibc
import Platform
import SQLite
import Support
import Tasks

/// Moves people between databases with the program, in a folder of its own.
final class Mover {
    private let home: TemporaryFolder
    var folder: String { home.path }

    init() throws {
        home = try TemporaryFolder()
    }

    /// A file of the folder.
    func file(_ name: String) -> String { home.file(name) }
    /// A SQLite database in the folder.
    func database(_ name: String) -> String { "sqlite:\(file(name))" }

    /// Starts the program on a database, with a source without a name and those that maps of the tests name.
    func start(_ arguments: [String], on database: String, sources: String = "ext") throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.built("task-server"), arguments,
            environment: [
                "TASKS_DATABASE": database, "TASKS_AUTHORITY": "https://contoso.b2clogin.com/t",
                "TASKS_SOURCES": sources,
            ])
    }

    /// Runs the program on a database to its end.
    func run(_ arguments: [String], on database: String, sources: String = "ext") throws -> ChildProcess.Outcome {
        try start(arguments, on: database, sources: sources).outcome(within: .seconds(300))
    }

    /// Starts an import whose input stays open, and lends it when it has read these lines and waits for more.
    func importing(_ lines: some Collection<UInt8>, on database: String, _ body: (ChildProcess) throws -> Void) throws {
        let pipe = OpenPipe(file("pipe"))
        let program = try start(["import", pipe.path], on: database)
        try pipe.feed(lines, to: program)
        try body(program)
    }

    /// Returns the number that a query counts, also while a program writes, and 0 before the tables are made.
    func count(_ query: String, in database: String) -> Int {
        guard database.hasPrefix("sqlite:") else {
            let name = PostgreSQLServer.name(of: database)
            let text = try? PostgreSQLServer.started().command(query, in: name)
            return text.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
        }
        guard let connection = try? Connection(path: String(database.dropFirst(7)), mode: .readOnly) else { return 0 }
        return (try? connection.integer(query)).flatMap { $0 }.map(Int.init) ?? 0
    }

    /// Runs the program on a terminal, and returns what the terminal is sent.
    func onTerminal(
        _ words: String, on database: String, piped: String? = nil
    ) throws -> (end: ChildProcess.End, shown: String) {
        let pipe = piped.map { "cat \($0) | " } ?? "exec "
        let command = "\(pipe)\(ChildProcess.built("task-server")) \(words)"
        let program = try ChildProcess(
            "/usr/bin/script", ["-qec", command, "/dev/null"],
            environment: ["TASKS_DATABASE": database, "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"])
        let end = try program.wait(within: .seconds(300))
        return (end, program.output)
    }

    /// All of a file.
    func bytes(_ name: String) throws -> [UInt8] { try File.read(file(name), limit: 1 << 27) }

    private static let texts = [
        "Milk", "caf\u{E9}", "cafe\u{301}", "\\\"\\\\\\n\\u0001", "\u{5E9}\u{1F469}\u{200D}\u{1F4BB}",
    ]

    /// Writes an export that has every form of a line.
    ///
    /// With 700 people or more, an import takes several transactions, and an export several pages.
    ///
    /// - Parameters:
    ///   - people: how many.
    ///   - name: the file.
    ///   - many: how many tasks some of them have: one of each `interval`.
    ///   - interval: see `many`.
    /// - Returns: how many tasks they have.
    /// - Throws: what the system said.
    @discardableResult func write(
        people: Int, to name: String, many: Int = 1100, ofEach interval: Int = 600
    ) throws -> Int {
        var lines: [String] = []
        var (tasks, keys) = (0, 0)
        let added = Timestamp(milliseconds: SystemTime().wallMilliseconds - 3_600_000).text
        for number in 0..<people {
            let owner = "\(100_000 + number)-\(["a", "\u{E9}", "e\u{301}", "\u{1F600}", "\\\"q\\\""][number % 5])"
            // Some people have many tasks, and some have none any more.
            let count = number % interval == 7 ? many : number % 4
            for id in 0..<count {
                lines.append(
                    #"{"owner":"\#(owner)","id":\#(id * 3 + 1),"text":"\#(Self.texts[id % 5]) \#(id)","#
                        + #""completed":\#(id % 3 == 0),"created":"2016-08-30T16:48:40.\#(100 + number % 900)Z","#
                        + #""modified":"2026-01-01T00:00:00.\#(100 + id % 900)Z","revision":\#(id + 1)}"#)
            }
            // These tasks were added an hour ago, after all others, so that their keys are still remembered.
            for key in 0..<number % 3 {
                lines.append(
                    #"{"owner":"\#(owner)","key":"k \#(key)\"","fingerprint":"\#(["0", "ffffffffffffffff"][key])","id":\#(max(1, count * 3 - 2)),"#
                        + #""text":"\#(Self.texts[number % 5])","completed":\#(key == 1),"created":"\#(added)"}"#)
                keys += 1
            }
            if number % 4 != 1 { lines.append(#"{"owner":"\#(owner)","next":\#(count * 3 + 50)}"#) }
            tasks += count
        }
        lines.append(#"{"end":true,"tasks":\#(tasks),"keys":\#(keys)}"#)
        try File.replace(file(name), with: Array(lines.map { $0 + "\n" }.joined().utf8))
        return tasks
    }
}

/// A pipe from a test to a program, whose writing end stays open until ``close()``.
final class OpenPipe {
    let path: String
    private var end: Int32

    init(_ path: String) {
        self.path = path
        File.remove(path)
        mkfifo(path, 0o600)
        // The test opens both ends, so that neither the test nor the program waits for the other to open the pipe.
        end = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    }

    deinit { close() }

    /// Writes bytes, and waits until the program has read all of them.
    func feed(_ bytes: some Collection<UInt8>, to program: ChildProcess) throws {
        var rest = Array(bytes)[...]
        _ = try program.await { (_) -> Bool? in
            rest = rest.dropFirst(max(0, rest.withUnsafeBytes { Glibc.write(end, $0.baseAddress, $0.count) }))
            var waiting: Int32 = 1
            return rest.isEmpty && ioctl(end, UInt(FIONREAD), &waiting) == 0 && waiting == 0 ? true : nil
        }
    }

    /// Ends the input of the program.
    func close() {
        Glibc.close(end)
        end = -1
    }
}
