import Platform
import PostgreSQL
import Tasks

/// One of the few sessions of a store, with what is under way on it.
///
/// Only the driving thread touches it.
final class StoreLink {
    let number: Int
    let isForWriting: Bool
    private var connection: PipelineConnection?
    private var isPrepared = false
    private var units: [Flight] = []
    private(set) var hasUnsent = false
    /// Attempts to connect that came to nothing since the last that did not.
    var failures = 0

    private struct Flight {
        let unit: any StoreUnit
        let deadline: UInt64
        var next = 0
    }

    init(number: Int, isForWriting: Bool) {
        self.number = number
        self.isForWriting = isForWriting
    }

    var isUp: Bool { connection != nil }
    var isQuiet: Bool { units.isEmpty }
    var readsUnderWay: Int { units.reduce(0) { $0 + ($1.unit.isWriting ? 0 : 1) } }
    var writesUnderWay: Int { units.reduce(0) { $0 + ($1.unit.isWriting ? 1 : 0) } }
    /// When the oldest unit has taken too long.
    var deadline: UInt64 { units.first?.deadline ?? .max }
    var interest: PollInterest? {
        connection.map { PollInterest(socket: $0.socket, writing: hasUnsent) }
    }

    func attach(_ connection: PipelineConnection, isPrepared: Bool) {
        self.connection = connection
        self.isPrepared = isPrepared
        failures = 0
    }

    /// From now on every statement carries its words.
    func stopUsingPrepared() { isPrepared = false }

    /// Sends a unit's statements, as far as the socket takes them.
    func send(_ unit: any StoreUnit, until deadline: UInt64) throws(PostgreSQLError) {
        guard let connection else { return unit.lose(.unavailable(reason: "no connection")) }
        units.append(Flight(unit: unit, deadline: deadline))
        for call in unit.calls {
            switch call {
            case .task(let call):
                let statement = call.statement
                try connection.send(
                    isPrepared ? .prepared(statement.preparedName) : .text(statement.sql), call.parameters)
            case .transaction(let statement, let parameters):
                let name = isPrepared ? statement.preparedName : nil
                try connection.send(name.map { .prepared($0) } ?? .text(statement.sql), parameters)
            }
        }
        try connection.synchronize()
        hasUnsent = try !connection.flush()
    }

    /// Reads and writes what the socket allows; hands over each unit that ended.
    func serve(_ ended: (any StoreUnit) -> Void) throws(PostgreSQLError) {
        guard let connection else { return }
        try connection.receive()
        if hasUnsent { hasUnsent = try !connection.flush() }
        while !units.isEmpty, let outcome = try connection.next() {
            switch consume outcome {
            case .rows(let rows):
                let (unit, call) = try nextCall(ended)
                unit.take(rows, ofCall: call)
            case .failure(let error):
                let (unit, call) = try nextCall(ended)
                unit.fail(error, atCall: call)
            case .skipped: _ = try nextCall(ended)
            case .synchronized: ended(units.removeFirst().unit)
            }
        }
        // A server that ends the session says so, and nobody may be waiting for anything.
        if connection.isLost { throw connection.lastError }
    }

    /// The statement that an outcome is of.
    ///
    /// A server that stops may say so behind the last of a unit: what the unit did holds, but nothing follows it.
    private func nextCall(_ ended: (any StoreUnit) -> Void) throws(PostgreSQLError) -> (any StoreUnit, Int) {
        let flight = units[0]
        guard flight.next < flight.unit.calls.count else {
            ended(units.removeFirst().unit)
            throw connection?.lastError ?? PostgreSQLError(sqlState: nil, message: "connection lost")
        }
        units[0].next += 1
        return (flight.unit, flight.next)
    }

    /// Gives the session up; how many callers were told.
    func drop(_ error: StoreError) -> Int {
        let callers = units.reduce(0) { $0 + $1.unit.callers }
        for flight in units { flight.unit.lose(error) }
        units = []
        connection = nil
        hasUnsent = false
        return callers
    }
}
