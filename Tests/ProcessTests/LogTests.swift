import Basics
import Glibc
import HTTP
import JSON
import Platform
import Support
import Synchronization
import Testing

@testable import TaskAPI
@testable import TaskServer

@Suite("Lines of the log") struct LogTests {
    private final class Sink: Sendable {
        let written = Mutex<[UInt8]>([])
        var lines: [String] {
            String(decoding: written.withLock { $0 }, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    private struct FixedTime: TimeSource {
        let wallMilliseconds: Int64 = 1_472_575_720_123
        var monotonicNanoseconds: UInt64 { SystemTime().monotonicNanoseconds }
    }

    private static func lines(
        _ format: LogText.Format, _ work: (Log) throws -> Void
    ) throws -> [String] {
        let sink = Sink()
        let log = Log(.info, format, time: FixedTime()) { bytes in sink.written.withLock { $0 += bytes } }
        try log.start()
        try work(log)
        log.close(within: patience)
        return sink.lines
    }

    @Test func `Each line is a JSON object that a strict reader takes, whatever a client sent (V-131)`() throws {
        let hostile = "\u{1B}[31m\"quoted\"\\\n\r\0é日本\u{7F}"
        let lines = try Self.lines(.json) { log in
            log.write(.warning, "sample") { line in
                line.number("status", -42)
                line.text("hostile", hostile)
                line.hex("owner", 0xFE)
                line.text("absent", nil)
            }
        }
        let line = try #require(lines.first)
        #expect(lines.count == 1)
        #expect(line.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        let value = try JSONValue(parsing: Array(line.utf8)).object
        #expect(value?["time"] == "2016-08-30T16:48:40.123Z")
        #expect(value?["level"] == "warning")
        #expect(value?["event"] == "sample")
        #expect(value?["status"] == -42)
        #expect(value?["owner"] == "00000000000000fe")
        #expect(value?["hostile"]?.string?.hasPrefix("\u{1B}[31m\"quoted\"\\\n\r\0") == true)
        #expect(value?.contains("absent") == false)
    }

    @Test func `The format for people has one readable line for an event`() throws {
        let lines = try Self.lines(.text) { log in
            log.write(.info, "request") { line in
                line.text("method", "GET")
                line.number("status", 200)
                line.text("reason", "two words\n")
            }
        }
        #expect(lines == [#"16:48:40.123 info request method=GET status=200 reason="two words\x0a""#])
    }

    @Test func `A line is cut where a client sends too much for it (V-131)`() throws {
        let lines = try Self.lines(.text) { log in
            log.write(.info, "long") { $0.text("path", String(repeating: "a", count: 1000), limit: 64) }
        }
        #expect(lines == ["16:48:40.123 info long path=" + String(repeating: "a", count: 64) + "..."])
    }

    @Test func `Lines are dropped and counted, and never waited for, where the reader is too slow`() throws {
        let gate = Wakeup()
        let sink = Sink()
        let log = Log(.info, .text) { bytes in
            gate.wait()
            sink.written.withLock { $0 += bytes }
            gate.wake()
        }
        try log.start()
        for _ in 0..<20_000 {
            log.write(.info, "flood") { $0.text("filling", String(repeating: "x", count: 200)) }
        }
        #expect(log.dropped > 0)
        gate.wake()
        log.close(within: patience)
        let dropped = sink.lines.filter { $0.contains("log-lines-dropped") }
        #expect(!dropped.isEmpty)
        #expect(sink.lines.count - dropped.count + log.dropped == 20_000)
    }

    @Test func `Of lines of many threads none is lost, and those of each thread keep their order`() throws {
        let lines = try Self.lines(.json) { log in
            let threads = try (0..<20).map { thread in
                try NamedThread.start("logging") {
                    for count in 0..<500 {
                        log.write(.info, "counted") { line in
                            line.number("thread", thread)
                            line.number("count", count)
                        }
                    }
                }
            }
            for thread in threads { thread.join() }
        }
        var counts: [Int64: [Int64]] = [:]
        for line in lines {
            let members = try JSONValue(parsing: Array(line.utf8)).object
            let thread = try #require(members?["thread"]?.integer)
            counts[thread, default: []].append(try #require(members?["count"]?.integer))
        }
        #expect(counts.count == 20 && counts.values.allSatisfy { $0 == Array(0..<500) })
    }

    @Test func `Lines of one reason are rationed, and the next one counts what was left out (V-132)`() {
        let ration = LogRation()
        let written = (0..<100).compactMap { _ in ration.take("expired", at: 1) }
        #expect(written == Array(repeating: 0, count: 20))
        #expect(ration.take("bad_signature", at: 1) == 0)
        #expect(ration.take("expired", at: 1_000_000_001) == 80)
    }

    @Test func `Lines of too many reasons are rationed together`() {
        let ration = LogRation()
        #expect((0..<10_000).compactMap { ration.take("\($0)", at: 1) }.count < 300)
    }

    @Test func `A failure that lasts is logged seldom, and again when it is over`() {
        let failures = RepeatedFailures()
        let second: UInt64 = 1_000_000_000
        let written = (0..<900).compactMap { failures.take("policy", "no answer", at: second * (4 * $0 + 1)) }
        #expect(written == [0, 149, 149, 149, 149, 149])
        #expect(failures.take("other", "no answer", at: 1) == 0)
        failures.end(of: "policy")
        #expect(failures.take("policy", "no answer", at: second * 3600) == 0)
        #expect(failures.take("policy", "status 503", at: second * 3601) == nil)
        #expect(failures.take("policy", "status 503", at: second * 3661) == 1)
    }

    private static func record(
        _ status: Status, _ route: String = "/api/tasks", owner: UInt64? = nil, problem: String? = nil
    ) -> RequestRecord {
        var record = RequestRecord(
            identifier: "1", method: .get, route: route, status: status, duration: 1, bytes: 1, peer: "-")
        (record.owner, record.problem) = (owner, problem)
        return record
    }

    @Test func `Lines of requests without a token and of refusals are rationed, those of a person are not`() throws {
        let lines = try Self.lines(.text) { log in
            let requests = RequestLog(log, .all, time: ManualClock())
            for _ in 0..<200 {
                requests.write(Self.record(401, problem: "token.invalid"))
                requests.write(Self.record(200, "/{file}"))
                requests.write(Self.record(200, "/{file}", owner: 7))
            }
        }
        #expect(lines.filter { $0.contains("route=/{file}") && !$0.contains("owner=") }.count == 20)
        #expect(lines.filter { $0.contains("owner=0000000000000007") }.count == 200)
        #expect(lines.filter { $0.contains("problem=token.invalid") }.count == 20)
    }

    @Test(arguments: [(LoggedRequests.all, 300), (.errors, 0), (.sample(100), 3)])
    func `Of good requests a sample is logged, of refused ones none is left out`(
        logged: LoggedRequests, lines good: Int
    ) throws {
        let lines = try Self.lines(.json) { log in
            let requests = RequestLog(log, logged)
            for _ in 0..<300 { requests.write(Self.record(200, owner: 7)) }
            for _ in 0..<5 { requests.write(Self.record(404, owner: 7, problem: "task.not_found")) }
        }
        let leftOut = try lines.map { try JSONValue(parsing: Array($0.utf8)).object?["leftOut"]?.integer ?? 0 }
        #expect(lines.filter { $0.contains(#""status":200"#) }.count == good)
        #expect(lines.filter { $0.contains(#""status":404"#) }.count == 5)
        let expected: [Int64] = logged == .sample(100) ? [0, 99, 99] : Array(repeating: 0, count: good)
        #expect(leftOut == expected + [0, 0, 0, 0, 0])
    }

    @Test(arguments: [("list.no_room", "warning"), ("store.unavailable", "error"), ("task.not_found", "info")])
    func `Only what the operator must repair has the level error`(problem: String, level: String) throws {
        let lines = try Self.lines(.json) { log in
            RequestLog(log, .all).write(Self.record(problem == "task.not_found" ? 404 : 503, problem: problem))
        }
        #expect(lines.count == 1 && lines[0].contains("\"level\":\"\(level)\""), "\(lines)")
    }

    @Test func `Of probes every second there is a line when the answer changes`() throws {
        let lines = try Self.lines(.text) { log in
            let requests = RequestLog(log, .all)
            for (status, times) in [(503, 5), (200, 30), (503, 5)] as [(Status, Int)] {
                for _ in 0..<times {
                    requests.write(Self.record(status, "/readyz"))
                    requests.write(Self.record(200, "/healthz"))
                }
            }
        }
        let statuses = lines.filter { $0.contains("/readyz") }.map { $0.contains("status=503") }
        #expect(statuses == [true, false, true] && lines.count == 4, "\(lines)")
    }

    @Test func `A probe during the start is no warning, one after it is`() throws {
        let lines = try Self.lines(.json) { log in
            let requests = RequestLog(log, .all)
            for status in [503, 200, 503] as [Status] {
                requests.write(Self.record(status, "/readyz", problem: status == 503 ? "server.starting" : nil))
            }
        }
        #expect(lines.map { $0.contains("\"level\":\"warning\"") } == [false, false, true], "\(lines)")
    }

    @Test func `Each member has the same type in all lines of a run`() throws {
        let stage = try Stage()
        let server = try stage.server(["TASKS_LOG_REQUESTS": "all", "TASKS_LOG_LEVEL": "debug"])
        let authorization = ["Authorization": "Bearer \(try stage.token())"]
        for target in ["/api/tasks", "/api/tasks/7", "/nowhere"] {
            _ = try exchange(server.port, "GET", target, authorization)
            _ = try exchange(server.port, "GET", target, ["Authorization": "Bearer e30.e30.e30"])
        }
        _ = try exchange(server.port, "POST", "/api/tasks", authorization, body: Array("task=Buy milk".utf8))
        server.process.send(SIGHUP)
        _ = try server.process.await { $0.contains("settings-reloaded") ? true : nil }
        server.process.send(SIGTERM)
        var kinds: [String: Set<String>] = [:]
        for line in try server.process.outcome().output.split(separator: "\n") {
            for member in try #require(JSONValue(parsing: Array(line.utf8)).object).members {
                kinds[member.name, default: []].insert("\(member.value)".prefix { $0 != "(" }.description)
            }
        }
        #expect(kinds.count > 20, "\(kinds.keys)")
        #expect(kinds.filter { $1.count > 1 }.isEmpty)
    }
}

@Suite("Metrics") struct MetricTextTests {
    @Test func `A histogram counts all values up to each bound`() {
        let histogram = DurationHistogram()
        for duration in [10_000, 60_000, 60_000, 20_000_000_000] as [UInt64] { histogram.add(duration) }
        var text = PrometheusText()
        text.histogram("d", [], histogram)
        let lines = text.text.split(separator: "\n")
        #expect(lines.first == "d_bucket{le=\"0.00005\"} 1")
        #expect(lines.dropFirst().first == "d_bucket{le=\"0.0001\"} 3")
        #expect(lines.suffix(4) == ["d_bucket{le=\"10\"} 3", "d_bucket{le=\"+Inf\"} 4", "d_sum 20.00013", "d_count 4"])
    }
}
