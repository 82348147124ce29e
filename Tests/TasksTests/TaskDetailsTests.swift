import JSON
import Support
import Tasks
import Testing

@Suite("The details of a task")
struct TaskDetailsTests {
    @Test(arguments: ["0001-01-01", "2026-11-30", "2028-02-29", "2000-02-29", "9999-12-31"])
    func `A date that exists is taken as it is`(text: String) {
        #expect(DetailKind.date.checked(.string(text)) == .string(text))
    }

    @Test(arguments: [
        "", "2026-11-31", "2027-02-29", "1900-02-29", "0000-01-01", "10000-01-01", "2026-13-01", "2026-00-01",
        "2026-01-00", "2026-1-1", "2026-11-30T00:00:00Z", " 2026-11-30", "2026/11/30", "+026-11-30", "20261130",
        "2026-11-3\u{661}", "٢٠٢٦-١١-٣٠",
    ])
    func `Anything else is no date`(text: String) {
        #expect(DetailKind.date.checked(.string(text)) == nil)
    }

    @Test(
        "A number is written in the shortest form that JSON reads as the same number",
        arguments: [
            (0, "0"), (-0.0, "0"), (2.5, "2.5"), (-3, "-3"), (0.1, "0.1"), (1e-7, "1e-07"),
            (.leastNonzeroMagnitude, "5e-324"),
            (9_007_199_254_740_992, "9007199254740992"), (-9_007_199_254_740_992, "-9007199254740992"),
        ] as [(Double, String)])
    func numbers(value: Double, text: String) throws {
        let checked = try #require(TaskDetail.position.kind.checked(.real(value)))
        #expect(checked.serialized() == Array(text.utf8) && checked.number == value)
        #expect(TaskDetail.position.kind.checked(try JSONValue(parsing: checked.serialized())) == checked)
    }

    @Test func `What is not finite or beyond 2^53 is no position`() {
        for value in [Double.nan, .infinity, -.infinity, 9_007_199_254_740_994, -1e300] {
            #expect(TaskDetail.position.kind.checked(.real(value)) == nil)
        }
        #expect(TaskDetail.position.kind.checked(.integer(9_007_199_254_740_993)) == nil)
    }

    @Test func `Notes have 1 to 10,000 bytes without U+0000, and are compared byte for byte`() {
        let kind = TaskDetail.notes.kind
        for wrong in ["", "a\0", String(repeating: "x", count: 10_001), String(repeating: "👩‍👩‍👧", count: 556)] {
            #expect(kind.checked(.string(wrong)) == nil)
        }
        let longest = JSONValue.string(String(repeating: "é", count: 5000))
        #expect(kind.checked(longest) == longest)
        let (composed, decomposed) = (JSONValue.string("caf\u{E9}"), JSONValue.string("cafe\u{301}"))
        #expect(TaskDetails([.notes: composed]) != TaskDetails([.notes: decomposed]))
    }

    @Test func `A flag is true or absent`() {
        #expect(DetailKind.flag.checked(true) == true)
        for wrong in [false, .null, 1, "true"] as [JSONValue] {
            #expect(DetailKind.flag.checked(wrong) == nil)
        }
    }

    @Test func `No detail has a value of another kind`() {
        #expect(DetailKind.date.checked(1) == nil && DetailKind.flag.checked(.string("true")) == nil)
    }

    @Test func `Names are those that are stored, shown and digested for ever`() {
        let first = TaskDetail.allCases.prefix(3)
        #expect(first.map(\.name) == ["due", "notes", "position"] && first.map(\.digestName) == ["d", "n", "p"])
        #expect(Set(TaskDetail.allCases.map(\.name)).count == TaskDetail.allCases.count)
        #expect(Set(TaskDetail.allCases.map(\.digestName)).count == TaskDetail.allCases.count)
    }

    @Test func `A change sets, removes and keeps; the order in which details are set does not matter`() {
        var details = TaskDetails([.due: .string("2026-11-30"), .notes: .string("n")])
        let change = TaskDetailsChange([.due: nil, .position: 1])
        #expect(change.applied(to: details) == TaskDetails([.notes: .string("n"), .position: 1]))
        details[.notes] = nil
        details[.due] = nil
        #expect(details.isEmpty && details == TaskDetails())
        (details[.position], details[.due]) = (1, .string("2026-11-30"))
        #expect(details.members.map(\.detail) == [.due, .position])
    }

    @Test func `Only what is set is shown, after everything else`() throws {
        func item(_ details: TaskDetails) throws -> TaskItem {
            TaskItem(id: 7, owner: Owner("o"), text: try TaskText("x"), created: 0, modified: 0, details: details)
        }
        let bare = String(decoding: try item(TaskDetails()).json.dropLast(), as: UTF8.self)
        let (due, notes) = (JSONValue.string("2026-11-30"), JSONValue.string("a\n\"b\""))
        for (details, members) in [
            (TaskDetails(), "}"), (TaskDetails([.due: due]), #","due":"2026-11-30"}"#),
            (TaskDetails([.notes: notes]), #","notes":"a\n\"b\""}"#),
            (TaskDetails([.position: .real(2.5)]), #","position":2.5}"#),
            (
                TaskDetails([.due: due, .notes: notes, .position: 3]),
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

    @Test func `A page takes a place before it has more than 16 KiB, and never has more than a page`() throws {
        let details = TaskDetails([
            .due: .string("2026-11-30"), .notes: .string("n"), .position: .real(-.leastNormalMagnitude),
        ])
        for length in 1...200 {
            // Pages have 64 KiB, and tasks have the longest numbers.
            let memory = AnswerMemory(limit: 1 << 20)
            var page = TaskPage(of: Owner("o"), atMost: nil, in: memory)
            let text = try TaskText(String(repeating: "x", count: length))
            let item = TaskItem(id: .max, owner: Owner("o"), text: text, created: 0, modified: 0, details: details)
            var size = 2
            while try page.append(item) {
                size += item.json.count + 1
                #expect(size <= AnswerMemory.unplaced || memory.statistics.held == memory.pageSize, "\(length)")
            }
            let list = page.list()
            // Allocators round up.
            #expect(list.json.capacity <= memory.pageSize + 4096, "\(length)")
            #expect(list.json.count > memory.pageSize - item.json.count - 200 && list.place != nil, "\(length)")
        }
    }

    @Test func `A task longer than a page has a page of its own, and one without a place none`() throws {
        let notes = TaskDetails([.notes: .string(String(repeating: "\u{1}", count: TaskDetail.notes.longest))])
        let text = try TaskText(String(repeating: "\u{1}", count: TaskText.longest))
        let item = TaskItem(id: 1, owner: Owner("o"), text: text, created: 0, modified: 0, details: notes)
        let memory = AnswerMemory(limit: 1 << 20)
        var page = TaskPage(of: Owner("o"), atMost: nil, in: memory)
        #expect(try page.append(item) && !page.append(item))
        #expect(item.json.count > memory.pageSize && page.list().json.count == item.json.count + 2)
        let places = (0..<2).map { _ in memory.place(for: Owner("o")) }
        var other = TaskPage(of: Owner("o"), atMost: nil, in: memory)
        #expect(throws: StoreError.noRoomForAnswer) { try other.append(item) }
        withExtendedLifetime(places) {}
    }

    @Test func `Entries beside the tasks count for the end of a page, and for its place`() throws {
        let memory = AnswerMemory(limit: 1 << 20)
        var page = TaskPage(of: Owner("o"), atMost: 5000, in: memory)
        while try page.count(other: 20) {}
        #expect(page.count == (memory.pageSize - 3) / 20 && memory.statistics.held == memory.pageSize)
        var short = TaskPage(of: Owner("o"), atMost: 2, in: memory)
        #expect(try short.count(other: 20) && short.count(other: 20) && !short.count(other: 20))
    }
}
