import Glibc
import Platform
import Testing

@Suite("Files below a folder are found", .timeLimit(.minutes(15)))
struct FolderTests {
    @Test func `Files below a folder are listed by their relative paths, without hidden ones`() throws {
        var template = Array("/tmp/folder-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
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
