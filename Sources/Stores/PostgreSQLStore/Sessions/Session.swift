import Platform
import PostgreSQL
import Tasks

/// One of the few sessions of a store, with the batches that were sent on it and not answered yet.
///
/// Only the driving thread uses it.
final class Session {
    private struct SentBatch {
        var batch: any Batch
        let deadline: UInt64
        /// The statement whose outcome comes next.
        var next = 0
    }

    let number: Int
    let isForWriting: Bool
    private var connection: PipelineConnection?
    private var isPrepared = false
    private var sent: [SentBatch] = []
    private(set) var hasUnsent = false
    /// Attempts to connect that failed since the last that did not.
    var failures = 0

    init(number: Int, isForWriting: Bool) {
        self.number = number
        self.isForWriting = isForWriting
    }

    var isUp: Bool { connection != nil }
    var isIdle: Bool { sent.isEmpty }
    var readsUnderWay: Int { sent.count { !$0.batch.isWriting } }
    var writesUnderWay: Int { sent.count { $0.batch.isWriting } }
    /// When the oldest batch has taken too long.
    var deadline: UInt64 { sent.first?.deadline ?? .max }
    var interest: PollInterest? {
        connection.map { PollInterest(socket: $0.socket, writing: hasUnsent) }
    }

    func attach(_ connection: PipelineConnection, isPrepared: Bool) {
        self.connection = connection
        self.isPrepared = isPrepared
        failures = 0
    }

    /// From now on every statement is sent as SQL.
    func stopUsingPrepared() { isPrepared = false }

    /// Sends a batch's statements, as far as the socket takes them.
    func send(_ batch: any Batch, until deadline: UInt64) throws(PostgreSQLError) {
        guard let connection else { return }
        sent.append(SentBatch(batch: batch, deadline: deadline))
        for statement in batch.statements {
            try connection.send(statement.form(isPrepared: isPrepared), statement.parameters)
        }
        try connection.synchronize()
        hasUnsent = try !connection.flush()
    }

    /// Reads and writes what the socket allows; gives each batch that ended.
    func serve(_ ended: (any Batch) -> Void) throws(PostgreSQLError) {
        guard let connection else { return }
        try connection.receive()
        if hasUnsent { hasUnsent = try !connection.flush() }
        while !sent.isEmpty, let outcome = try connection.next() {
            switch consume outcome {
            case .rows(let rows):
                let index = try nextStatement(ended)
                sent[0].batch.receive(rows, at: index)
            case .failure(let error):
                let index = try nextStatement(ended)
                sent[0].batch.fail(error, at: index)
            case .skipped: _ = try nextStatement(ended)
            case .synchronized: ended(sent.removeFirst().batch)
            }
        }
        // A server that ends the session says so, also where nothing is under way.
        if connection.isLost { throw connection.lastError }
    }

    /// The statement of the first batch that an outcome is of.
    ///
    /// A server that stops may say so after the last of a batch: what the batch did holds, but nothing follows it.
    private func nextStatement(_ ended: (any Batch) -> Void) throws(PostgreSQLError) -> Int {
        let index = sent[0].next
        guard index < sent[0].batch.statements.count else {
            ended(sent.removeFirst().batch)
            throw connection?.lastError ?? PostgreSQLError(sqlState: nil, message: "connection lost")
        }
        sent[0].next = index + 1
        return index
    }

    /// Closes the session; what becomes of the batches that were not answered.
    func drop(_ error: StoreError) -> [BatchResult] {
        let results = sent.map { $0.batch.lost(error) }
        sent = []
        connection = nil
        hasUnsent = false
        return results
    }
}
