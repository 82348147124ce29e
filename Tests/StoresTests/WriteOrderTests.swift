import StoreEngine
import Tasks
import Testing

@testable import SQLiteStore

@Suite("The order in which SQLite's writes share transactions")
struct WriteOrderTests {
    /// A write that is never run.
    private func write(of owner: String, rows: Int) -> Job {
        Job(of: Owner(owner), .write, weight: rows, SQLiteWrite { _ in .answer {} }) { _ in }
    }

    private func short(_ name: String, of owner: String, rows: Int = 1) -> (String, Job) {
        (name, write(of: owner, rows: rows))
    }

    private func long(_ name: String, of owner: String) -> (String, Job) {
        (name, write(of: owner, rows: 700))
    }

    /// The names of the writes of one transaction after the other; a long one takes 10 ns, short ones take 1.
    private func transactions(
        of writes: [(name: String, job: Job)], rows: Int = 256, _ room: WriteOrder.Room = .everything
    ) -> [String] {
        var (waiting, order, time, found) = (writes.map(\.job), WriteOrder(), UInt64(0), [String]())
        while time < 1000 {
            let batch = order.next(of: &waiting, atMost: rows, room, at: time)
            time += batch.contains { $0.weight > 100 } ? 10 : 1
            order.noteEnd(at: time)
            let names = batch.compactMap { job in writes.first { $0.job === job }?.name }
            if !names.isEmpty { found.append(names.joined(separator: " ")) }
        }
        return found
    }

    @Test func `Short writes share a transaction of so many rows; a list of changes has one of its own, after them`() {
        let writes = [
            long("list", of: "alice"), short("a", of: "bob"), short("b", of: "carol", rows: 16),
            short("c", of: "dan", rows: 16),
        ]
        #expect(transactions(of: writes) == ["a b c", "list"])
        #expect(transactions(of: writes, rows: 17) == ["a b", "list", "c"])
    }

    @Test func `The writes of one owner keep their order`() {
        let writes = [
            short("1", of: "alice"), long("2", of: "alice"), short("3", of: "alice"), short("a", of: "bob"),
            long("4", of: "alice"),
        ]
        #expect(transactions(of: writes) == ["1 a", "2", "3", "4"])
    }

    @Test func `Owners with lists take turns, however many one of them has`() {
        let others = [long("b1", of: "bob"), long("b2", of: "bob"), long("c1", of: "carol")]
        let writes = (1...3).map { long("a\($0)", of: "alice") } + others
        #expect(transactions(of: writes) == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test func `While short writes come, a list waits four times as long as the one before it took`() {
        var (waiting, order) = ([write(of: "alice", rows: 700), write(of: "bob", rows: 700)], WriteOrder())
        #expect(order.next(of: &waiting, atMost: 256, .everything, at: 0).count == 1)
        order.noteEnd(at: 10)
        for time in UInt64(10)..<50 {
            waiting.append(write(of: "carol", rows: 1))
            #expect(order.next(of: &waiting, atMost: 256, .everything, at: time).first?.isLong == false)
        }
        #expect(order.nextLong == 50)
        waiting.append(write(of: "carol", rows: 1))
        #expect(order.next(of: &waiting, atMost: 256, .everything, at: 50).first?.isLong == true)
    }

    @Test func `Each write of a transaction that failed has one of its own, before all others`() {
        let failed = RetryState().after(.oneJob, isShared: true) ?? RetryState()
        let writes = ["1", "2"].map { ($0, write(of: "alice", rows: 1).again(failed)) }
        #expect(transactions(of: writes + [short("a", of: "bob"), long("3", of: "alice")]) == ["1", "2", "a", "3"])
    }

    @Test func `A log without room for lists has some for short writes, until it has none for any`() {
        let writes = [long("list", of: "alice"), short("a", of: "bob"), short("b", of: "alice")]
        #expect(transactions(of: writes, .shortWrites) == ["a"])
        #expect(transactions(of: writes, .nothing) == [])
    }
}
