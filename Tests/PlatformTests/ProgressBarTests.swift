import Platform
import Testing

@Suite("Progress is shown in one line", .timeLimit(.minutes(15)))
struct ProgressBarTests {
    private func bar(_ count: Int, of total: Int?, seconds: Double = 10) -> ProgressBar {
        var bar = ProgressBar("tasks")
        (bar.count, bar.total, bar.seconds) = (count, total, seconds)
        return bar
    }

    @Test func `A progress bar shows part, count, rate and the time left`() {
        #expect(
            bar(250, of: 1000).line(columns: 79)
                == "[########..........................]   25 %  250 of 1000 tasks  25/s  30 s left")
        #expect(bar(250, of: nil).line(columns: 79) == "250 tasks  25/s")
        #expect(
            bar(1000, of: 1000).line(columns: 60) == "[########################]  100 %  1000 of 1000 tasks  100/s")
        #expect(bar(0, of: 0, seconds: 0).line(columns: 40) == "[#################]  100 %  0 of 0 tasks")
    }

    @Test func `A known part replaces that of the counts`() {
        var bar = bar(30, of: nil)
        bar.knownPart = 0.5
        #expect(bar.line(columns: 60) == "[############.............]   50 %  30 tasks  3/s  10 s left")
    }

    @Test func `Long times are in minutes and hours`() {
        #expect(bar(1, of: 61).line(columns: 50).hasSuffix("10 min left"))
        #expect(bar(1, of: 7201, seconds: 1).line(columns: 50).hasSuffix("2 h left"))
        // A damaged database may count any number of tasks.
        #expect(bar(1, of: .max, seconds: 1000).line(columns: 100).contains("1 of 9223372036854775807 tasks"))
    }
}
