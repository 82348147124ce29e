import Tasks
import Testing

@Suite("A text is 1 to 4096 bytes without U+0000")
struct TaskTextTests {
    @Test func `The limits are in bytes`() throws {
        #expect(throws: TaskText.Failure.empty) { try TaskText("") }
        #expect(try TaskText(String(repeating: "a", count: 4096)).value.utf8.count == 4096)
        #expect(throws: TaskText.Failure.tooLong(bytes: 4097)) { try TaskText(String(repeating: "a", count: 4097)) }
        #expect(try TaskText(String(repeating: "é", count: 2048)).value.utf8.count == 4096)
        #expect(throws: TaskText.Failure.tooLong(bytes: 4098)) { try TaskText(String(repeating: "é", count: 2049)) }
    }

    @Test func `U+0000 is refused at every position`() {
        let long = String(repeating: "a", count: 100)
        for text in ["\0", "a\0b", "\0" + long, long + "\0", long + "\0" + long] {
            #expect(throws: TaskText.Failure.containsNUL) { try TaskText(text) }
        }
    }

    @Test func `Composed and decomposed letters differ`() throws {
        let (composed, decomposed) = (try TaskText("caf\u{E9}"), try TaskText("cafe\u{301}"))
        #expect(composed.value == decomposed.value)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }
}
