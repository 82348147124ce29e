import Glibc
import Platform
import Support
import Testing

@Suite("Marks on a file", .timeLimit(.minutes(15)))
struct FileMarksTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.file("marks") }

    @Test("Others see a mark until it is removed, and each number by itself")
    func set() throws {
        let mine = try FileMarks(path: path)
        let other = try FileMarks(path: path)
        let isSet = mine.set(0)
        #expect(isSet)
        let (seen, taken) = (other.isSetByAnother(0), !other.set(0))
        #expect(seen && taken)
        let (seenByItself, next) = (mine.isSetByAnother(0), other.set(1))
        #expect(!seenByItself && next)
        mine.remove(0)
        let setByOther = other.set(0)
        #expect(setByOther)
    }

    @Test("A mark ends with its opening, though a child that was just forked has a copy of it")
    func end() throws {
        let mine = try FileMarks(path: path)
        _ = mine.set(0)
        let copy = try #require(copyOfDescriptor())
        defer { close(copy) }
        _ = consume mine
        let other = try FileMarks(path: path)
        let isSet = other.set(0)
        #expect(isSet)
    }

    /// Another number for the descriptor of the file, as a forked child has one.
    private func copyOfDescriptor() -> Int32? {
        for number in 3..<Int32(1024) {
            var target = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(number)", &target, target.count)
            if count > 0, String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) == path {
                return dup(number)
            }
        }
        return nil
    }
}
