import Platform
import Testing

@Suite("A box for a value that moves to another thread", .timeLimit(.minutes(15)))
struct TransferBoxTests {
    private struct Handle: ~Copyable {
        let number: Int
    }

    private static func takenNumber(_ box: TransferBox<Handle>) -> Int? {
        guard let handle = box.take() else { return nil }
        return handle.number
    }

    @Test("The thread gets the value, and no one gets it a second time")
    func takenOnce() throws {
        let box = TransferBox(Handle(number: 7))
        let thread = try NamedThread.start("taker") {
            let number = Self.takenNumber(box)
            #expect(number == 7)
        }
        thread.join()
        let again = Self.takenNumber(box)
        #expect(again == nil)
    }
}
