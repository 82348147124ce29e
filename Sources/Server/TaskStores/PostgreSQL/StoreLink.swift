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
    var interest: Doorbell.Interest? {
        connection.map { Doorbell.Interest(socket: $0.socket, writing: hasUnsent) }
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
                units[0].unit.take(rows, ofCall: units[0].next)
                units[0].next += 1
            case .failure(let error):
                units[0].unit.fail(error, atCall: units[0].next)
                units[0].next += 1
            case .skipped: units[0].next += 1
            case .synchronized:
                ended(units.removeFirst().unit)
            }
        }
        // A server that ends the session says so, and nobody may be waiting for anything.
        if connection.isLost { throw connection.lastError }
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
