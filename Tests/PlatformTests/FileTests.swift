import Glibc
import Platform
import Support
import Testing

@Suite("Small files are read and written whole")
struct FileTests {
    private let home: TemporaryFolder
    private var folder: String { home.path }

    init() throws { home = try TemporaryFolder() }

    @Test func `A file is read as it was written, with its permissions`() throws {
        let path = "\(folder)/secret"
        let bytes = [UInt8](0...255) + [UInt8](repeating: 7, count: 100_000)
        try File.replace(path, with: bytes, mode: 0o640)
        #expect(try File.read(path) == bytes)
        var facts = stat()
        #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o640)
    }

    @Test func `A file is replaced whole, and no other file is left`() throws {
        let path = "\(folder)/cache"
        try File.replace(path, with: Array("a long first version".utf8))
        try File.replace(path, with: Array("short".utf8))
        #expect(try File.read(path) == Array("short".utf8))
        #expect(try Folder.files(below: folder) == ["cache"])
    }

    @Test func `An error has the reason of the system`() {
        let error = #expect(throws: SystemError.self) { try File.read("\(folder)/nothing") }
        #expect(error?.description == "open '\(folder)/nothing': No such file or directory")
        #expect(error?.isMissing == true)
    }

    @Test func `A file over the limit is refused, not cut`() throws {
        let path = "\(folder)/long"
        try File.replace(path, with: [1, 2, 3])
        #expect(try File.read(path, limit: 3) == [1, 2, 3])
        let error = #expect(throws: SystemError.self) { try File.read(path, limit: 2) }
        #expect(error?.reason == "File too large")
    }

    @Test func `A file stays unchanged if the new one cannot be written`() throws {
        let error = #expect(throws: SystemError.self) { try File.replace("/dev/full/x", with: [1]) }
        #expect(error?.operation == "write '/dev/full/x'")
    }
}

@Suite("Files are published, locked and resolved by name")
struct FileNameTests {
    private let name = "/tmp/platform-tests-\(UInt64.random(in: 0 ... .max))"

    @Test(arguments: [FileLock.Extent.whole, .databaseByte])
    func `A lock is held once, and released with its holder`(_ extent: FileLock.Extent) throws {
        defer { File.remove(name) }
        do {
            let first = try FileLock(path: name, extent)
            #expect(throws: FileLock.Failure.held) { _ = try FileLock(path: name, extent) }
            _ = consume first
        }
        _ = try FileLock(path: name, extent)
        #expect(throws: FileLock.Failure.self) { _ = try FileLock(path: "/nonexistent/lock") }
    }

    @Test func `A file is not published under a name that exists`() throws {
        let partial = name + ".partial"
        defer { [name, partial].forEach(File.remove) }
        try File.createIfMissing(partial)
        try File.publish(partial, as: name)
        #expect(File.exists(name))
        #expect(!File.exists(partial))
        try File.createIfMissing(partial)
        let failure = #expect(throws: SystemError.self) { try File.publish(partial, as: name) }
        #expect(failure?.reason == "File exists")
    }

    @Test func `Links are resolved, missing files are not`() {
        #expect(File.resolved("/proc/self/../../tmp") == "/tmp")
        #expect(File.resolved("/nonexistent/x") == "/nonexistent/x")
    }
}

@Suite("Files below a folder are found")
struct FolderTests {
    @Test func `Files below a folder are listed by their relative paths, without hidden ones`() throws {
        let home = try TemporaryFolder()
        let folder = home.path
        #expect(mkdir("\(folder)/b", 0o700) == 0)
        for name in ["b/c.css", "a.html", ".hidden", "z"] { try File.replace("\(folder)/\(name)", with: [1]) }
        #expect(symlink("..", "\(folder)/b/ring") == 0)
        let files = try Folder.files(below: folder)
        #expect(files.filter { !$0.contains("ring") } == ["a.html", "b/c.css", "z"])
    }

    @Test func `A missing folder is an error`() {
        let error = #expect(throws: SystemError.self) { try Folder.files(below: "/nowhere") }
        #expect(error?.isMissing == true)
    }
}

@Suite("A stream is read line by line")
struct LineReaderTests {
    private static func lines(of bytes: [UInt8]) throws -> [[UInt8]] {
        let path = "/tmp/lines-\(getpid())-\(UInt64.random(in: 0...(.max)))"
        try File.replace(path, with: bytes)
        defer { File.remove(path) }
        var reader = try LineReader(path: path)
        var lines: [[UInt8]] = []
        while let line = try reader.next() { lines.append(line) }
        return lines
    }

    @Test(arguments: [
        ("", []), ("one", ["one"]), ("one\n", ["one"]), ("one\ntwo", ["one", "two"]), ("\n\n", ["", ""]),
        ("one\r\ntwo\r\n", ["one", "two"]), ("\r\n", [""]), ("\u{FEFF}one\n\u{FEFF}two", ["one", "\u{FEFF}two"]),
        ("\u{FEFF}", [""]),
    ])
    func `Lines have no line ends, and the first no byte-order mark`(text: String, expected: [String]) throws {
        #expect(try Self.lines(of: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test func `Lines are whole, wherever the system cuts the stream`() throws {
        let lines = (0..<5).map { [UInt8](repeating: UInt8(ascii: "a") + $0, count: 50_000 + Int($0)) }
        #expect(try Self.lines(of: Array(lines.joined(separator: [UInt8(ascii: "\n")]))) == lines)
    }

    @Test func `A line over the limit is refused`() {
        #expect(throws: SystemError.self) { try Self.lines(of: [UInt8](repeating: 1, count: 2_000_000)) }
    }
}
