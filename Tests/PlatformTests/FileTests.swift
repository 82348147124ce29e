import Glibc
import Platform
import Support
import Testing

@Suite("Small files are read and written whole", .timeLimit(.minutes(15)))
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

@Suite("The process knows its environment and its use of resources", .timeLimit(.minutes(15)))
struct ProcessFactsTests {
    @Test func `The environment has the variables of the start`() {
        #expect(ProcessFacts.environment["PATH"] == getenv("PATH").map { String(cString: $0) })
    }

    @Test func `Memory and processor time are plausible`() {
        #expect((1 << 20...1 << 34).contains(ProcessFacts.residentBytes))
        #expect(ProcessFacts.processorSeconds > 0)
        #expect(ProcessFacts.identifier == getpid())
    }
}
