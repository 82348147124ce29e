import PostgreSQL
import Tasks

/// Reads that are sent together, with one point of synchronization after them.
struct ReadBatch: Batch {
    let statements: [Statement]
    private let reads: [any QueuedRead]
    private var next = 0
    private var ended = BatchResult()

    init(_ reads: [any QueuedRead]) {
        self.reads = reads
        statements = reads.map(\.statement)
    }

    mutating func receive(_ rows: borrowing Rows, at index: Int) {
        let read = reads[index]
        next = index + 1
        if let following = read.receive(rows) { return ended.reads.append(following) }
        ended.answeredReads += 1
        if statements[index].isList { ended.lists += 1 }
    }

    mutating func fail(_ error: PostgreSQLError, at index: Int) {
        ended.error = error
        var read = reads[index]
        if let retry = read.retry.afterFailedRead(error.kind) {
            read.retry = retry
            ended.reads.append(read)
        } else {
            read.refuse(StoreError(error))
            ended.answeredReads += 1
        }
        // Those after it were not run.
        ended.reads += reads[(index + 1)...]
        next = reads.count
    }

    func result() -> BatchResult { ended }

    func lost(_ error: StoreError) -> BatchResult {
        var result = ended
        for read in reads[next...] + ended.reads {
            read.refuse(error)
            result.answeredReads += 1
        }
        result.reads = []
        return result
    }
}
