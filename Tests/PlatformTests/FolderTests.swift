import Glibc
import Platform
import Support
import Testing

@Suite("Files below a folder are found", .timeLimit(.minutes(15)))
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
