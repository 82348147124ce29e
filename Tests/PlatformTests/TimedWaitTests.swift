import Platform
import Testing

@Suite("A suspended caller is resumed once")
struct TimedWaitTests {
    @Test func `By the first who resumes, also before the caller is suspended, or when the time is over`() async {
        let early = TimedWait<Bool>()
        #expect(
            await early.suspend(for: .seconds(600)) {
                early.resume(true)
                early.resume(false)
            } == true)
        let late = TimedWait<Bool>()
        #expect(await late.suspend(for: .seconds(600)) { Task.detached { late.resume(true) } } == true)
        let start = ContinuousClock.now
        #expect(await TimedWait<Bool>().suspend(for: .milliseconds(50)) {} == nil)
        #expect(start.duration(to: .now) >= .milliseconds(50))
    }
}
