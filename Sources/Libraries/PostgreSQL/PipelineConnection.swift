private import CPostgreSQL
private import OpenSSL

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
        let names = target.keywords.map(\.name)
        let values = target.keywords.map(\.value)
        guard
            let handle = unsafe withCStrings(
                names,
                { names in
                    unsafe withCStrings(values) { values in unsafe PQconnectdbParams(names, values, 0) }
                })
        else { throw PostgreSQLError(sqlState: nil, message: "out of memory") }
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

    /// Whether the session is over.
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

/// Lends an array of C strings with a NULL after the last.
private func withCStrings<Outcome>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Outcome
) -> Outcome {
    var block: [CChar] = []
    var offsets: [Int] = []
    for string in strings {
        offsets.append(block.count)
        block.append(contentsOf: string.utf8CString)
    }
    return unsafe block.withUnsafeBufferPointer { block in
        var pointers = unsafe offsets.map { offset in unsafe block.baseAddress.map { unsafe $0 + offset } }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { pointers in
            guard let base = pointers.baseAddress else { preconditionFailure("there is always a NULL") }
            return unsafe body(base)
        }
    }
}

/// The version of the libpq that is loaded.
package var libpqVersion: String { "\(PQlibVersion() / 10_000).\(PQlibVersion() % 10_000)" }
