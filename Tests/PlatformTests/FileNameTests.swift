import Platform
import Testing

@Suite("Files are published, locked and resolved by name", .timeLimit(.minutes(15)))
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
