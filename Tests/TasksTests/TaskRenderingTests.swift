import JSON
import Support
import Tasks
import Testing

@Suite("A task is shown byte for byte as the clients read it")
struct TaskRenderingTests {
    private let owner = Owner("6e9e3a4c-0d0b-4c9d-a1a7-2f0b4ce5b6aa")

    private func item(_ words: String, id: Int64 = 7, completed: Bool = false) throws -> TaskItem {
        TaskItem(
            id: id, owner: owner, text: try TaskText(words), completed: completed, created: 1_472_575_720_123,
            modified: 1_472_575_721_004)
    }

    @Test func `A task is one line with old and new names`() throws {
        let expected =
            #"{"Id":7,"TaskID":7,"owner":"6e9e3a4c-0d0b-4c9d-a1a7-2f0b4ce5b6aa","#
            + #""Owner":"6e9e3a4c-0d0b-4c9d-a1a7-2f0b4ce5b6aa","task":"Buy milk","Text":"Buy milk","completed":false,"#
            + #""Completed":false,"date":"2016-08-30T16:48:40.123Z","DateModified":"2016-08-30T16:48:41.004Z","#
            + #""revision":1}"#
        #expect(String(decoding: try item("Buy milk").json, as: UTF8.self) == expected)
    }

    @Test func `A list is the tasks between brackets`() throws {
        let (first, second) = (try item("a"), try item("b", id: 8, completed: true))
        var page = TaskPage(of: owner, atMost: 2, in: AnswerMemory())
        let taken = [try page.append(first), try page.append(second), try page.append(item("c", id: 9))]
        #expect(taken == [true, true, false])
        let list = page.list()
        #expect(list.json == Array("[".utf8) + first.json + Array(",".utf8) + second.json + Array("]".utf8))
        #expect(list.next == 8)
        #expect(TaskPage(of: owner, atMost: nil, in: AnswerMemory()).list().json == Array("[]".utf8))
    }

    @Test(arguments: [
        ("\"", #"\""#), ("\\", #"\\"#), ("/", "/"), ("\u{8}\t\n\u{C}\r", #"\b\t\n\f\r"#), ("\u{1}", #"\u0001"#),
        ("\u{1F}", #"\u001f"#), ("\u{7F}\u{2028}é😀", "\u{7F}\u{2028}é😀"), ("a\"b", #"a\"b"#),
    ])
    func `Only what RFC 8259 requires is escaped`(text: String, escaped: String) throws {
        let plain = String(decoding: try item("?").json, as: UTF8.self)
        let expected = plain.split(separator: "?", omittingEmptySubsequences: false).joined(separator: escaped)
        #expect(try item(text).json == Array(expected.utf8))
    }

    @Test func `An owner from another claim is escaped too`() throws {
        let odd = TaskItem(id: 1, owner: Owner(#"a"b\"#), text: try TaskText("x"), created: 0, modified: 0)
        #expect(String(decoding: odd.json, as: UTF8.self).contains(#""owner":"a\"b\\","Owner":"a\"b\\","task""#))
    }
}
