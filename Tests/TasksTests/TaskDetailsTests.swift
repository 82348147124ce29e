import JSON
import Tasks
import Testing

@Suite("The details of a task", .timeLimit(.minutes(15)))
struct TaskDetailsTests {
    @Test(
        "A date that exists is taken and written again",
        arguments: ["0001-01-01", "2026-11-30", "2028-02-29", "2000-02-29", "9999-12-31"])
    func dates(text: String) {
        #expect(DueDate(text)?.text == text)
    }

    @Test(
        "Anything else is no date",
        arguments: [
            "", "2026-11-31", "2027-02-29", "1900-02-29", "0000-01-01", "10000-01-01", "2026-13-01", "2026-00-01",
            "2026-01-00", "2026-1-1", "2026-11-30T00:00:00Z", " 2026-11-30", "2026/11/30", "+026-11-30", "20261130",
            "2026-11-3\u{661}", "٢٠٢٦-١١-٣٠",
        ])
    func noDates(text: String) {
        #expect(DueDate(text) == nil)
    }

    @Test(
        "A position is written in the shortest form that JSON reads as the same number",
        arguments: [
            (0, "0"), (-0.0, "0"), (2.5, "2.5"), (-3, "-3"), (0.1, "0.1"), (1e-7, "1e-07"),
            (.leastNonzeroMagnitude, "5e-324"),
            (9_007_199_254_740_992, "9007199254740992"), (-9_007_199_254_740_992, "-9007199254740992"),
        ] as [(Double, String)])
    func positions(value: Double, text: String) throws {
        let position = try #require(TaskPosition(value))
        #expect(position.text == text)
        switch try JSONValue(parsing: Array(text.utf8)) {
        case .integer(let number): #expect(Double(number) == value)
        case .real(let number): #expect(number == value)
        default: Issue.record("no number")
        }
    }

    @Test("What is not finite or beyond 2^53 is no position")
    func noPositions() {
        for value in [Double.nan, .infinity, -.infinity, 9_007_199_254_740_994, -1e300] {
            #expect(TaskPosition(value) == nil)
        }
    }

    @Test("Notes have 1 to 10,000 bytes without U+0000, and are compared byte for byte")
    func notes() throws {
        #expect(throws: TaskText.Failure.empty) { try TaskNotes("") }
        #expect(throws: TaskText.Failure.containsNUL) { try TaskNotes("a\0") }
        #expect(throws: TaskText.Failure.tooLong(bytes: 10_001)) {
            try TaskNotes(String(repeating: "x", count: 10_001))
        }
        #expect(try TaskNotes(String(repeating: "é", count: 5000)).value.utf8.count == 10_000)
        #expect(try TaskNotes("caf\u{E9}") != TaskNotes("cafe\u{301}"))
    }

    @Test("Only what is set is shown, after everything else")
    func rendering() throws {
        func item(_ details: TaskDetails) throws -> TaskItem {
            TaskItem(id: 7, owner: Owner("o"), text: try TaskText("x"), created: 0, modified: 0, details: details)
        }
        let bare = String(decoding: try item(TaskDetails()).json.dropLast(), as: UTF8.self)
        let notes = try TaskNotes("a\n\"b\"")
        for (details, members) in [
            (TaskDetails(), "}"), (TaskDetails(due: DueDate("2026-11-30")), #","due":"2026-11-30"}"#),
            (TaskDetails(notes: notes), #","notes":"a\n\"b\""}"#),
            (TaskDetails(position: TaskPosition(2.5)), #","position":2.5}"#),
            (
                TaskDetails(due: DueDate("2026-11-30"), notes: notes, position: TaskPosition(3)),
                #","due":"2026-11-30","notes":"a\n\"b\"","position":3}"#
            ),
        ] {
            let item = try item(details)
            #expect(String(decoding: item.json, as: UTF8.self) == bare + members)
            var page = TaskPage(of: item.owner, atMost: nil, in: AnswerMemory())
            #expect(try page.append(item))
            #expect(page.list().json == Array("[".utf8) + item.json + Array("]".utf8))
        }
    }

    @Test("A page leases what notes take before they are rendered")
    func lease() throws {
        let memory = AnswerMemory(limit: 3 << 20)
        var page = TaskPage(of: Owner("o"), atMost: nil, in: memory)
        for id in 1...20 as ClosedRange<Int64> {
            let notes = try TaskNotes(String(repeating: "\u{1}", count: TaskNotes.longest))
            let position = TaskPosition(-.leastNormalMagnitude)
            let details = TaskDetails(due: DueDate("2026-11-30"), notes: notes, position: position)
            let item = TaskItem(
                id: id, owner: Owner("o"), text: try TaskText("x"), created: 0, modified: 0, details: details)
            guard try page.append(item) else { break }
            #expect(memory.statistics.held >= Int(id) * 6 * TaskNotes.longest)
        }
        #expect(page.count == 4)
    }

    @Test("A page takes no more memory than its lease, however long its tasks are")
    func bound() throws {
        let details = TaskDetails(
            due: DueDate("2026-11-30"), notes: try TaskNotes("n"), position: TaskPosition(-.leastNormalMagnitude))
        for length in 1...200 {
            // Pages of 64 KiB, of tasks with the longest numbers.
            let memory = AnswerMemory(limit: 1 << 20)
            var page = TaskPage(of: Owner("o"), atMost: nil, in: memory)
            let text = try TaskText(String(repeating: "x", count: length))
            let item = TaskItem(id: .max, owner: Owner("o"), text: text, created: 0, modified: 0, details: details)
            while try page.append(item) {}
            let list = page.list()
            // Allocators round up.
            #expect(list.json.capacity <= memory.statistics.held + 4096, "\(length)")
        }
    }
}
