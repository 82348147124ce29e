import Platform
import PostgreSQL
@testable import PostgreSQLStore
import Support
import Synchronization
import Tasks
import Testing

@Suite("Connections that sessions ask for", .timeLimit(.minutes(15)))
struct PostgreSQLConnectorTests {
    /// A clock that moves whenever it is read.
    private final class BusyClock: TimeSource {
        private let readings = Atomic<UInt64>(0)

        var wallMilliseconds: Int64 { 0 }
        var monotonicNanoseconds: UInt64 { readings.add(1, ordering: .relaxed).newValue }
    }

    private func queue() throws -> RequestQueue {
        RequestQueue(capacity: 8, lanes: 1, poller: try #require(SocketPoller()))
    }

    @Test("An order is carried out once, also if its time comes while it is looked at")
    func once() throws {
        let target = try ConnectionTarget(parsing: "postgresql://127.0.0.1")
        let connector = PostgreSQLConnector(to: target, for: try queue(), observer: { _ in }, time: BusyClock())
        for (session, time) in [(1, 2), (2, 5), (3, 8)] as [(Int, UInt64)] {
            connector.order(for: session, notBefore: time)
        }
        #expect((0..<3).map { _ in connector.nextOrder()?.session } == [1, 2, 3])
    }

    @Test("A second connection of a session is dropped, as answers for the first are on their way")
    func second() throws {
        let target = try ConnectionTarget(parsing: try PostgreSQLServer.started().newDatabase())
        let queue = try queue()
        let events = RecordedEvents()
        var options = PostgreSQLStoreOptions()
        options.observer = events.append
        let connector = PostgreSQLConnector(to: target, for: queue, observer: events.append)
        let driver = SessionDriver(queue, connector, options, PostgreSQLCounts(), isOneOwnerOnly: false)
        for _ in 0..<2 {
            let opened = ConnectionAttempt.Opened(
                connection: TransferBox(try PipelineConnection(to: target)), isPrepared: false)
            driver.attach(ConnectionAttempt(session: 0, result: .success(opened)))
        }
        #expect(events.all == [.connected])
    }
}
