import Glibc
import Platform
import Support
import Synchronization
import Testing

@Suite("Ages and pauses count the time that the machine sleeps (V-64)")
struct TimeSourceTests {
    @Test func `The clock of ages is the system's that counts sleep`() {
        func boot() -> UInt64 {
            var now = timespec()
            clock_gettime(CLOCK_BOOTTIME, &now)
            return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
        }
        let (before, read, after) = (boot(), SystemTime().monotonicNanoseconds, boot())
        #expect(before <= read && read <= after)
    }

    /// A clock on which three days pass between two looks, as while the machine sleeps.
    private final class Slept: TimeSource {
        private let looks = Atomic<UInt64>(0)
        var wallMilliseconds: Int64 { 0 }
        var monotonicNanoseconds: UInt64 {
            looks.wrappingAdd(1, ordering: .relaxed).oldValue * 3 * 86_400 * 1_000_000_000
        }
    }

    @Test func `A thread wakes soon after the machine has slept past its deadline`() {
        let wakeup = Wakeup(clock: Slept(), longestSleep: 1_000_000)
        #expect(!wakeup.wait(untilMonotonicNanoseconds: 3_600_000_000_000))
    }

    /// The places that may use a clock that sleeps with the machine; the source says why.
    private static let exceptions = [
        "Libraries/Platform/RepeatingThread.swift:CLOCK_MONOTONIC",
        "Libraries/Platform/RepeatingThread.swift:awakeNanoseconds",
        "Libraries/Platform/ServiceManager.swift:awakeNanoseconds",
        "Libraries/Platform/TimeSource.swift:CLOCK_MONOTONIC",
        "Libraries/Platform/TimeSource.swift:awakeNanoseconds",
        "Transport/HTTPServer/PublishedPhase.swift:CLOCK_MONOTONIC_COARSE",
    ]

    @Test func `No age is read from a clock that sleeps with the machine`() throws {
        let clocks = "CLOCK_MONOTONIC[A-Z_]*|awakeNanoseconds|SuspendingClock|\\.suspending\\b"
        let sources = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Sources/"
        let found = try ChildProcess.run("/usr/bin/grep", ["--recursive", "--only-matching", "-E", clocks, sources])
        #expect(found.split(separator: "\n").map { String($0.dropFirst(sources.count)) }.sorted() == Self.exceptions)
    }
}
