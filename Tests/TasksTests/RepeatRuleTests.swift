import Basics
import Tasks
import Testing

@Suite("A rule by which a task comes again (RFC 5545, RFC 7529)")
struct RepeatRuleTests {
    @Test(
        "It has one text, however it was written",
        arguments: [
            ("FREQ=DAILY;INTERVAL=1", "FREQ=DAILY"), ("interval=999;freq=Yearly", "FREQ=YEARLY;INTERVAL=999"),
            ("BYDAY=FR,MO;FREQ=WEEKLY;INTERVAL=02", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR"),
            ("FREQ=MONTHLY;BYDAY=+2MO", "FREQ=MONTHLY;BYDAY=2MO"),
            ("FREQ=MONTHLY;BYDAY=-1FR", "FREQ=MONTHLY;BYDAY=-1FR"),
            ("BYMONTHDAY=31;FREQ=YEARLY;BYMONTH=12", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31"),
        ])
    func text(written: String, text: String) throws {
        #expect(try RepeatRule(written).text == text)
        #expect(try RepeatRule(text).text == text)
    }

    @Test(
        "What it does not know is refused, with what to write instead",
        arguments: [
            ("", "parts"), ("DAILY", "parts"), ("FREQ=DAILY;", "parts"), ("FREQ=DAILY;FREQ=DAILY", "each once"),
            ("INTERVAL=2", "FREQ="), ("FREQ=HOURLY", "WEEKLY"), ("RRULE:FREQ=DAILY", "FREQ="),
            ("FREQ=DAILY;INTERVAL=0", "1 to 999"), ("FREQ=DAILY;INTERVAL=1000", "1 to 999"),
            ("FREQ=DAILY;COUNT=3", "without COUNT"), ("FREQ=DAILY;BYDAY=MO", "without BYDAY"),
            ("FREQ=WEEKLY;BYDAY=", "BYDAY=MO,FR"), ("FREQ=WEEKLY;BYDAY=MO,MO", "BYDAY=MO,FR"),
            ("FREQ=WEEKLY;BYDAY=1MO", "BYDAY=MO,FR"), ("FREQ=MONTHLY;BYDAY=MO", "BYDAY=2MO"),
            ("FREQ=MONTHLY;BYDAY=5MO", "-4 to 4"), ("FREQ=MONTHLY;BYDAY=0MO", "-4 to 4"),
            ("FREQ=MONTHLY;BYDAY=1MO,2MO", "BYDAY=2MO"), ("FREQ=MONTHLY;BYMONTHDAY=32", "1 to 31"),
            ("FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=1MO", "not both"), ("FREQ=MONTHLY;BYMONTH=1", "without BYMONTH"),
            ("FREQ=YEARLY;BYMONTHDAY=1", "BYMONTH"), ("FREQ=YEARLY;BYMONTH=13", "1 to 12"),
        ])
    func refused(written: String, expected: String) {
        do {
            let rule = try RepeatRule(written)
            Issue.record("\(rule.text)")
        } catch {
            #expect(error.expected.contains(expected), "\(error.expected)")
        }
    }

    @Test(
        "A month that is too short has its last day, and the next rule remembers the day",
        arguments: [
            ("FREQ=MONTHLY", "2027-01-31", ["2027-02-28", "2027-03-31", "2027-04-30"]),
            ("FREQ=MONTHLY;INTERVAL=12", "2024-02-29", ["2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]),
            ("FREQ=YEARLY", "2024-02-29", ["2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]),
            ("FREQ=YEARLY;BYMONTH=2", "2027-01-31", ["2027-02-28", "2028-02-29"]),
            ("FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=31", "2027-01-01", ["2027-04-30", "2028-04-30"]),
            ("FREQ=DAILY;INTERVAL=999", "9998-01-01", ["none"]), ("FREQ=MONTHLY", "9999-12-01", ["none"]),
        ])
    func shortMonths(written: String, start: String, dates: [String]) throws {
        var (rule, date) = (try RepeatRule(written), try #require(CivilDate(start)))
        for expected in dates {
            let next = rule.next(from: date, after: date)
            #expect(next?.date.text ?? "none" == expected)
            guard let next else { continue }
            (rule, date) = (try RepeatRule(next.rule.text), next.date)
        }
    }

    @Test func `A late completion skips the dates that have passed, and keeps the rhythm`() throws {
        let start = try #require(CivilDate("2027-01-04"))
        let late = try #require(CivilDate("2027-02-03"))
        for (rule, expected) in [
            ("FREQ=DAILY;INTERVAL=7", "2027-02-08"), ("FREQ=WEEKLY;INTERVAL=2", "2027-02-15"),
            ("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU", "2027-02-07"), ("FREQ=MONTHLY", "2027-02-04"),
            ("FREQ=MONTHLY;BYDAY=1WE", "2027-03-03"), ("FREQ=YEARLY;INTERVAL=3", "2030-01-04"),
        ] {
            #expect(try RepeatRule(rule).next(from: start, after: late)?.date.text == expected, "\(rule)")
        }
    }
}
