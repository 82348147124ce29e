import Tasks
import Platform
import PostgreSQL
import Synchronization

/// The thread that makes connections, one after the other: names are looked up and hosts are tried in turn, all of which
/// may block, and libpq keeps the deadlines of that only in its blocking form.
final class PostgreSQLConnector: Sendable {
    struct Order {
        let session: Int
        let notBefore: UInt64
    }

    private struct State {
        var orders: [Order] = []
        var isClosed = false
    }

    private let target: ConnectionTarget
    private let queue: RequestQueue
    private let observer: @Sendable (StoreEvent) -> Void
    private let state = Mutex(State())
    private let wakeup = Wakeup()
    /// Off for good once a session was found that others share: a pool in transaction mode.
    private let preparing = Atomic(true)
    private let time: any TimeSource
    /// How long a session may take to get ready, once it is connected: all others wait for their turn.
    private static let mostSeconds = 5

    init(
        to target: ConnectionTarget, for queue: RequestQueue, observer: @escaping @Sendable (StoreEvent) -> Void,
        time: any TimeSource = SystemTime()
    ) {
        self.target = target
        self.queue = queue
        self.observer = observer
        self.time = time
    }

    /// Asks for a connection, not before a monotonic time.
    func order(for session: Int, notBefore: UInt64) {
        state.withLock { $0.orders.append(Order(session: session, notBefore: notBefore)) }
        wakeup.wake()
    }

    /// From now on connections come without prepared statements.
    ///
    /// Either thread may find it first; it is reported once.
    func stopPreparing() {
        if preparing.exchange(false, ordering: .relaxed) { observer(.sessionsShared) }
    }

    var isPreparing: Bool { preparing.load(ordering: .relaxed) }

    /// Lets the thread end; it may take until the deadline of an attempt, so no one waits for it.
    func close() {
        state.withLock { $0.isClosed = true }
        wakeup.wake()
    }

    func run() {
        while let order = nextOrder() {
            let result = Result { () throws(PostgreSQLError) in try connect() }
            queue.deliver(ConnectionAttempt(session: order.session, result: result))
        }
    }

    /// Waits for the time of an order, and takes it; nil when the thread should end.
    func nextOrder() -> Order? {
        while true {
            // Read once: an order that is left for later by one reading must not be due by another.
            let now = time.monotonicNanoseconds
            let (order, isClosed) = state.withLock { state in
                state.orders.sort { $0.notBefore < $1.notBefore }
                guard !state.isClosed, let first = state.orders.first else { return (nil as Order?, state.isClosed) }
                guard first.notBefore <= now else { return (first, false) }
                return (state.orders.removeFirst(), false)
            }
            if isClosed { return nil }
            guard let order else {
                wakeup.wait()
                continue
            }
            if order.notBefore <= now { return order }
            _ = wakeup.wait(untilMonotonicNanoseconds: order.notBefore)
        }
    }

    private func connect() throws(PostgreSQLError) -> ConnectionAttempt.Opened {
        let connection = try PipelineConnection(to: target)
        connection.limitWaits(toSeconds: Self.mostSeconds)
        let version = try PostgreSQLSchema.version(on: connection) ?? 0
        guard version <= PostgreSQLSchema.known else {
            throw PostgreSQLError(
                sqlState: nil, message: "the tables have version \(version), of a newer task-server")
        }
        let isPrepared = isPreparing ? try prepare(on: connection) : false
        try connection.enterPipeline()
        return ConnectionAttempt.Opened(connection: TransferBox(connection), isPrepared: isPrepared)
    }

    /// Whether the session is ours alone: in a fresh one no name can be taken.
    private func prepare(on connection: PipelineConnection) throws(PostgreSQLError) -> Bool {
        do throws(PostgreSQLError) {
            for statement in TaskStatement.allCases {
                try connection.prepare(statement.preparedName, statement.sql, statement.types)
            }
            for statement in TransactionStatement.allCases {
                guard let name = statement.preparedName else { continue }
                try connection.prepare(name, statement.sql, statement.types)
            }
            return true
        } catch {
            guard error.kind == .unprepared else { throw error }
            stopPreparing()
            return false
        }
    }
}
