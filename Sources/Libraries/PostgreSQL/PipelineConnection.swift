private import CPostgreSQL
private import Glibc
private import OpenSSL
private import Platform

/// One session with a server, used by one thread at a time.
///
/// In pipeline mode many statements are on their way at once. ``send(_:_:)`` and ``synchronize()`` only fill the
/// buffer, ``flush()`` writes as much as the socket takes, ``receive()`` reads the bytes that have arrived, and
/// ``next()`` returns outcomes in the order of sending. None of these waits. Results and parameters are binary.
@safe
package final class PipelineConnection {
    /// A statement as text, or one that was prepared under a name.
    package enum Statement: Sendable, Equatable {
        case text(String)
        case prepared(String)
    }

    /// The outcome of one statement or synchronization that was sent.
    package enum Outcome: ~Copyable {
        /// A statement did its work.
        case rows(Rows)
        /// A statement failed, and with it all statements up to the next synchronization.
        case failure(PostgreSQLError)
        /// A statement was not run, because one before it failed.
        case skipped
        /// A synchronization was reached.
        case synchronized
    }

    let handle: OpaquePointer
    /// The time at which every wait outside of pipeline mode ends at the latest, see ``limitWaits(toSeconds:)``.
    var lastMoment = Int64.max

    /// Connects and waits for the connection; `connect_timeout` is the deadline of each host.
    package init(to target: ConnectionTarget) throws(PostgreSQLError) {
        Cleanup.turnOff()
        guard let handle = unsafe PQconnectdb(target.connectionString) else {
            throw PostgreSQLError(sqlState: nil, message: "out of memory")
        }
        unsafe self.handle = unsafe handle
        guard unsafe PQstatus(handle) == CONNECTION_OK else { throw lastError }
        unsafe cpostgresql_silence_notices(handle)
        guard unsafe PQsetnonblocking(handle, 1) == 0 else { throw lastError }
    }

    deinit {
        unsafe PQfinish(handle)
    }

    /// The message of libpq about the state of the connection.
    package var lastError: PostgreSQLError {
        let text = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
        let lines = text.split(separator: "\n").map { $0.drop { $0 == "\t" } }
        return PostgreSQLError(
            sqlState: nil, message: lines.isEmpty ? "connection lost" : lines.joined(separator: "; "))
    }

    package var isLost: Bool { unsafe PQstatus(handle) != CONNECTION_OK }

    /// The number of the socket, for waiting.
    package var socket: Int32 { unsafe PQsocket(handle) }

    /// Starts pipeline mode: many statements may be on their way from now on.
    package func enterPipeline() throws(PostgreSQLError) {
        guard unsafe PQenterPipelineMode(handle) == 1 else { throw lastError }
    }

    /// Puts a statement with its parameters into the buffer.
    package func send(_ statement: Statement, _ parameters: [Parameter] = []) throws(PostgreSQLError) {
        let encoded = EncodedParameters(parameters)
        let sent: Int32
        switch statement {
        case .text(let sql):
            sent = encoded.withPointers { count, types, values, lengths, formats in
                unsafe PQsendQueryParams(handle, sql, count, types, values, lengths, formats, 1)
            }
        case .prepared(let name):
            sent = encoded.withPointers { count, _, values, lengths, formats in
                unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
            }
        }
        guard sent == 1 else { throw lastError }
    }

    /// Puts a point of synchronization into the buffer: the server answers all statements before it.
    package func synchronize() throws(PostgreSQLError) {
        guard unsafe PQpipelineSync(handle) == 1 else { throw lastError }
    }

    /// Writes as much as the socket takes; returns whether the buffer is empty then.
    package func flush() throws(PostgreSQLError) -> Bool {
        let left = unsafe PQflush(handle)
        guard left >= 0 else { throw lastError }
        return left == 0
    }

    /// Reads the bytes that have arrived; if there are more afterwards, the socket is readable.
    package func receive() throws(PostgreSQLError) {
        // libpq reads once, into at least 8 kB. The rest of a TLS record of 16 kB makes no socket readable.
        repeat {
            guard unsafe PQconsumeInput(handle) == 1 else { throw lastError }
        } while unsafe cpostgresql_pending(handle) > 0
    }

    /// Returns the next outcome, if it has arrived.
    package func next() throws(PostgreSQLError) -> Outcome? {
        // Between the results of two statements libpq gives one NULL, which means nothing here.
        for _ in 0..<2 {
            guard unsafe PQisBusy(handle) == 0 else { return nil }
            guard let result = unsafe PQgetResult(handle) else { continue }
            return try unsafe outcome(takingOwnershipOf: result)
        }
        return nil
    }

    func outcome(takingOwnershipOf result: OpaquePointer) throws(PostgreSQLError) -> Outcome {
        switch unsafe PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: return unsafe .rows(Rows(takingOwnershipOf: result))
        case PGRES_PIPELINE_SYNC:
            unsafe PQclear(result)
            return .synchronized
        case PGRES_PIPELINE_ABORTED:
            unsafe PQclear(result)
            return .skipped
        default:
            let error = unsafe failure(of: result)
            unsafe PQclear(result)
            guard !isLost else { throw error }
            return .failure(error)
        }
    }

    private func failure(of result: OpaquePointer) -> PostgreSQLError {
        guard let state = unsafe cpostgresql_sqlstate(result) else { return lastError }
        let message = unsafe cpostgresql_primary_message(result).map { unsafe String(cString: $0) }
        return unsafe PostgreSQLError(sqlState: String(cString: state), message: message ?? "no message")
    }
}

/// The version of the libpq that is loaded.
package var libpqVersion: String { "\(PQlibVersion() / 10_000).\(PQlibVersion() % 10_000)" }

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
    package func runScript(_ sql: String) throws(PostgreSQLError) {
        guard unsafe PQsendQuery(handle, sql) == 1 else { throw lastError }
        _ = try outcome(within: 60)
    }

    /// Prepares a statement under a name, outside of pipeline mode.
    package func prepare(_ name: String, _ sql: String, _ types: [Parameter]) throws(PostgreSQLError) {
        let numbers = types.map(\.type)
        guard unsafe PQsendPrepare(handle, name, sql, Int32(numbers.count), numbers) == 1 else { throw lastError }
        _ = try outcome(within: 10)
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
