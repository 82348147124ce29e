import Basics
import Platform
import SQLite
import Synchronization
import Tasks

/// The reading threads, each with a connection and a queue of its own.
final class ReaderPool: Sendable {
    private let queues: [WorkQueue<any QueuedRead>]
    private let threads = Mutex<[NamedThread]>([])
    private let turn = Atomic<UInt>(0)
    private let refused = Atomic(0)
    private let health: SQLiteHealth

    init(threads count: Int, waiting: Int, health: SQLiteHealth) {
        self.health = health
        queues = (0..<max(count, 1)).map { _ in WorkQueue(capacity: waiting) }
    }

    /// Starts the threads, each with a connection to the file.
    func start(on file: SQLiteFile, _ answers: AnswerMemory) throws(StoreOpenError) {
        for (index, queue) in queues.enumerated() {
            let statements = TransferBox(try Self.statements(of: file, answers))
            let thread = try rethrowing(as: file.threadError) { () throws(NamedThread.Failure) in
                try startThread("reader-\(index)", queue, statements)
            }
            threads.withLock { $0.append(thread) }
        }
    }

    private static func statements(
        of file: SQLiteFile, _ answers: AnswerMemory
    ) throws(StoreOpenError) -> ReadStatements {
        let connection = try file.open(.readWrite)
        // No closure: that could not consume the connection.
        do throws(SQLiteError) {
            return try ReadStatements.compiled(on: connection, answers: answers)
        } catch {
            throw file.openError(error)
        }
    }

    private func startThread(
        _ name: String, _ queue: WorkQueue<any QueuedRead>, _ box: TransferBox<ReadStatements>
    ) throws(NamedThread.Failure) -> NamedThread {
        let health = health
        return try NamedThread.start(name) {
            guard let statements = box.take() else { return }
            while case .jobs(let reads) = queue.take(atMost: 64) {
                for read in reads { read.run(on: statements, health) }
            }
        }
    }

    /// Runs a read on the next thread, and waits for its result.
    func read<Outcome: Sendable>(_ body: @escaping Read<Outcome>.Body) async throws(StoreError) -> Outcome {
        try await Reply<Outcome>.awaiting { reply in submit(body) { reply.answer($0) } }
    }

    /// Gives a read to the next thread, which calls `answer` with its result; refuses it if too many wait there.
    func submit<Outcome: Sendable>(
        _ body: @escaping Read<Outcome>.Body, answer: @escaping @Sendable (Result<Outcome, StoreError>) -> Void
    ) {
        let read = Read(body: body, answer: answer)
        let index = turn.add(1, ordering: .relaxed).oldValue % UInt(queues.count)
        guard !queues[Int(index)].submit(read) else { return }
        refused.add(1, ordering: .relaxed)
        read.refuse(.overloaded)
    }

    func report(to statistics: inout StoreStatistics) {
        statistics.waitingReads = queues.reduce(0) { $0 + $1.count }
        statistics.refused += refused.load(ordering: .relaxed)
    }

    /// Finishes the waiting reads, and ends the threads.
    func close() {
        for queue in queues { queue.close() }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}
