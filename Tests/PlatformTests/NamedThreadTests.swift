import Platform
import Synchronization
import Testing

@Suite("Named threads run and wake each other")
struct NamedThreadTests {
    @Test func `A thread runs its body once, and join waits for its end`() throws {
        let count = Atomic(0)
        let thread = try NamedThread.start("counter") { count.add(1, ordering: .relaxed) }
        thread.join()
        #expect(count.load(ordering: .relaxed) == 1)
        thread.join()
    }

    @Test func `What a thread has held is released when its end is known`() throws {
        final class Held: Sendable {}
        for _ in 0..<100 {
            weak var held: Held?
            let thread: NamedThread
            do {
                let new = Held()
                held = new
                thread = try NamedThread.start("holder") { withExtendedLifetime(new) {} }
            }
            thread.join()
            #expect(held == nil)
        }
    }

    /// It stays to the end of the program, where the thread sanitizer would report one that waits to be joined.
    private static let unjoined = Result { try NamedThread.start("unjoined") {} }

    @Test func `A thread that has ended may stay without being joined`() throws {
        _ = try Self.unjoined.get()
    }

    @Test func `A wake before the sleep is not lost`() throws {
        let (ping, pong) = (Wakeup(), Wakeup())
        let thread = try NamedThread.start("a name longer than fifteen bytes") {
            for _ in 0..<1000 {
                ping.wait()
                pong.wake()
            }
        }
        for _ in 0..<1000 {
            ping.wake()
            try #require(pong.wait(untilMonotonicNanoseconds: SystemTime().monotonicNanoseconds + 180_000_000_000))
        }
        thread.join()
    }

    @Test func `A sleep with a deadline ends by it or by a wake`() {
        let wakeup = Wakeup()
        let start = SystemTime().monotonicNanoseconds
        #expect(!wakeup.wait(untilMonotonicNanoseconds: start + 5_000_000))
        #expect(SystemTime().monotonicNanoseconds >= start + 5_000_000)
        wakeup.wake()
        #expect(wakeup.wait(untilMonotonicNanoseconds: start + 60_000_000_000))
        #expect(!wakeup.wait(untilMonotonicNanoseconds: 0))
    }
}
