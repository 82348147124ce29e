import Basics
import Platform
import SQLite
import StoreEngine
import Synchronization
import Tasks

/// The reading threads, each with a connection and a queue of its own.
///
/// Of each owner one list is read at a time, so that many requests of one owner keep one thread busy and delay only each
/// other.
final class ReaderPool: Sendable {
    private let queues: [WorkQueue<any QueuedRead>]
    /// The owners of whom a list is queued or being read, with their further lists in the order in which they came.
    private let waitingLists = Mutex<[Owner: [any QueuedRead]]>([:])
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
        submit(Read(body: body, answer: answer))
    }

    /// Whether a thread will run this read; it is refused otherwise.
    @discardableResult private func submit(_ read: any QueuedRead) -> Bool {
        let index = turn.add(1, ordering: .relaxed).oldValue % UInt(queues.count)
        if queues[Int(index)].submit(read) { return true }
        refused.add(1, ordering: .relaxed)
        read.refuse(.overloaded)
        return false
    }

    /// Gives a list to a thread, after the lists of this owner that came before it.
    func submitList(
        of owner: Owner, _ body: @escaping Read<Result<TaskList, StoreError>>.Body,
        answer: @escaping @Sendable (Result<TaskList, StoreError>) -> Void
    ) {
        let read = Read(body: body) { answer($0.flatMap { $0 }) }
        let list = ListInTurn(read: read) { [self] in submitNextList(of: owner) }
        let isFirst = waitingLists.withLock { waiting in
            guard waiting[owner] == nil else {
                waiting[owner]?.append(list)
                return false
            }
            waiting[owner] = []
            return true
        }
        if isFirst, !submit(list) { submitNextList(of: owner) }
    }

    private func submitNextList(of owner: Owner) {
        func next() -> (any QueuedRead)? {
            waitingLists.withLock { waiting in
                guard waiting[owner]?.isEmpty == false else {
                    waiting[owner] = nil
                    return nil
                }
                return waiting[owner]?.removeFirst()
            }
        }
        while let list = next() {
            if submit(list) { return }
        }
    }

    func report(to statistics: inout StoreStatistics) {
        statistics.waitingReads = queues.reduce(0) { $0 + $1.count }
        statistics.waitingReads += waitingLists.withLock { $0.values.reduce(0) { $0 + $1.count } }
        statistics.refused += refused.load(ordering: .relaxed)
    }

    /// Finishes the waiting reads, and ends the threads.
    func close() {
        for queue in queues { queue.close() }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}
