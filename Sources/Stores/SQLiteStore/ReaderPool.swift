import Platform
import SQLite
import Synchronization
import Tasks

/// The reading threads, each with a connection and a queue of its own.
final class ReaderPool: Sendable {
    private let queues: [WorkQueue<any PendingRead>]
    private let threads = Mutex<[NamedThread]>([])
    private let turn = Atomic<UInt>(0)
    private let refused = Atomic(0)
    private let health: StoreHealth

    init(threads count: Int, waiting: Int, health: StoreHealth) {
        self.health = health
        queues = (0..<max(count, 1)).map { _ in WorkQueue(capacity: waiting) }
    }

    /// Starts the threads; the closure opens a connection for each.
    func start(
        _ open: () throws(StoreOpenError) -> ReadTables, threadFailed: (NamedThread.Failure) -> StoreOpenError
    ) throws(StoreOpenError) {
        for (index, queue) in queues.enumerated() {
            let box = Mutex<ReadTables?>(try open())
            do throws(NamedThread.Failure) {
                let thread = try startThread("reader-\(index)", queue, ReadTablesBox(box))
                threads.withLock { $0.append(thread) }
            } catch {
                close()
                throw threadFailed(error)
            }
        }
    }

    private func startThread(
        _ name: String, _ queue: WorkQueue<any PendingRead>, _ box: ReadTablesBox
    ) throws(NamedThread.Failure) -> NamedThread {
        let health = health
        return try NamedThread.start(name) {
            guard let tables = box.take() else { return }
            while case .jobs(let jobs) = queue.take(atMost: 64) {
                for job in jobs { Self.run(job, on: tables, health) }
            }
        }
    }

    private static func run(_ job: any PendingRead, on tables: borrowing ReadTables, _ health: StoreHealth) {
        if let error = health.refusal { return job.refuse(error) }
        do throws(SQLiteError) { try job.run(on: tables) } catch { job.refuse(health.judge(error)) }
    }

    /// Hands a read to the next thread; refuses it if too much waits there.
    func submit(_ read: some PendingRead) {
        let index = turn.add(1, ordering: .relaxed).oldValue % UInt(queues.count)
        guard !queues[Int(index)].submit(read) else { return }
        refused.add(1, ordering: .relaxed)
        read.refuse(.overloaded)
    }

    func report(to statistics: inout StoreStatistics) {
        statistics.waitingReads = queues.reduce(0) { $0 + $1.count }
        statistics.refused += refused.load(ordering: .relaxed)
    }

    /// Finishes what waits, and ends the threads.
    func close() {
        for queue in queues { queue.close() }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}

/// Carries the statements to their thread.
private final class ReadTablesBox: Sendable {
    private let tables: Mutex<ReadTables?>

    init(_ tables: consuming sending Mutex<ReadTables?>) {
        self.tables = tables
    }

    func take() -> ReadTables? {
        tables.withLock { $0.take() }
    }
}
