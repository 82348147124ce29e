import Synchronization
import Tasks

/// The events that a store has reported.
final class RecordedEvents: Sendable {
    private let events = Mutex<[StoreEvent]>([])

    func append(_ event: StoreEvent) { events.withLock { $0.append(event) } }

    var all: [StoreEvent] { events.withLock { $0 } }

    /// How often a full disk was reported.
    var diskFull: Int { all.count { if case .diskFull = $0 { true } else { false } } }
}
