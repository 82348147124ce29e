import Platform
import Synchronization
import Testing

@Suite("Numbers of threads", .timeLimit(.minutes(15)))
struct ThreadNumberTests {
    @Test("A thread keeps its number, and no other one has it")
    func numbers() throws {
        let seen = Mutex<[Int]>([])
        let threads = try (0..<8).map { _ in
            try NamedThread.start("numbered") {
                let number = ThreadNumber.current
                let again = ThreadNumber.current
                seen.withLock { $0 += number == again ? [number] : [] }
            }
        }
        for thread in threads { thread.join() }
        let numbers = seen.withLock { $0 }
        #expect(numbers.count == 8 && Set(numbers).count == 8 && numbers.allSatisfy { $0 >= 0 })
    }
}
