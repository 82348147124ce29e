private import CPostgreSQL
private import Glibc
private import Platform

extension PipelineConnection {
    /// Runs one statement outside of pipeline mode, and waits for its end.
    ///
    /// It does work that happens once: migrations, preparations, archives. The deadline makes the connection unusable.
    package func run(
        _ sql: String, _ parameters: [Parameter] = [], within seconds: Int = 60
    ) throws(PostgreSQLError) -> Rows {
        try send(.text(sql), parameters)
        return try outcome(within: seconds)
    }

    /// Runs statements without parameters, separated by semicolons, and waits for their end.
    package func runScript(_ sql: String, within seconds: Int = 60) throws(PostgreSQLError) {
        guard unsafe PQsendQuery(handle, sql) == 1 else { throw lastError }
        _ = try outcome(within: seconds)
    }

    /// Prepares a statement under a name, outside of pipeline mode.
    package func prepare(
        _ name: String, _ sql: String, _ types: [Parameter], within seconds: Int = 10
    ) throws(PostgreSQLError) {
        let numbers = types.map(\.type)
        guard unsafe PQsendPrepare(handle, name, sql, Int32(numbers.count), numbers) == 1 else { throw lastError }
        _ = try outcome(within: seconds)
    }

    /// Limits all waits from now on to this time together, whatever the deadline of each is.
    package func limitWaits(toSeconds seconds: Int) {
        lastMoment = Self.milliseconds + Int64(seconds) * 1000
    }

    /// Waits for the next outcome in pipeline mode, and meanwhile writes to the socket.
    ///
    /// The deadline is a time of the monotonic clock.
    package func nextOutcome(untilMonotonicNanoseconds deadline: UInt64) throws(PostgreSQLError) -> Outcome {
        var isFlushed = try flush()
        while true {
            if let outcome = try next() { return outcome }
            try wait(isFlushed ? POLLIN : POLLIN | POLLOUT, until: Int64(deadline / 1_000_000))
            if !isFlushed { isFlushed = try flush() }
        }
    }

    /// Returns the last outcome of the statements that were sent, or throws the first failure.
    private func outcome(within seconds: Int) throws(PostgreSQLError) -> Rows {
        let deadline = min(Self.milliseconds + Int64(seconds) * 1000, lastMoment)
        while !(try flush()) { try wait(POLLIN | POLLOUT, until: deadline) }
        var rows: Rows?
        var failure: PostgreSQLError?
        while true {
            while unsafe PQisBusy(handle) != 0 { try wait(POLLIN, until: deadline) }
            guard let result = unsafe PQgetResult(handle) else { break }
            switch try unsafe outcome(takingOwnershipOf: result) {
            case .rows(let new): rows = consume new
            case .failure(let error): failure = failure ?? error
            case .skipped: break
            case .synchronized: break
            }
        }
        if let failure { throw failure }
        guard let rows = rows.take() else { throw PostgreSQLError(sqlState: nil, message: "no result") }
        return rows
    }

    /// Waits for the socket, and reads the bytes that have arrived.
    private func wait(_ events: Int32, until deadline: Int64) throws(PostgreSQLError) {
        let left = deadline - Self.milliseconds
        var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
        guard left > 0, unsafe poll(&entry, 1, Int32(min(left, 1_000_000))) != 0 else {
            throw PostgreSQLError(sqlState: nil, message: "no answer within the deadline")
        }
        try receive()
    }

    private static var milliseconds: Int64 { Int64(SystemTime().monotonicNanoseconds / 1_000_000) }
}
