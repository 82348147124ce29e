import Platform
import Synchronization
import Tasks

/// Stops a thread of a store where a test wants it, until the test lets it go on.
final class Gate: Sendable {
    private let isOpen = Atomic(false)
    private let isReached = Atomic(false)
    private let opened = Wakeup()

    /// Called by the thread: waits, if the gate is not open yet.
    func pass() {
        isReached.store(true, ordering: .releasing)
        guard !isOpen.load(ordering: .acquiring) else { return }
        opened.wait()
    }

    /// Waits until a thread stands at the gate; suspends, as the pool may have no other thread to bring it there.
    func waitForArrival() async {
        while !isReached.load(ordering: .acquiring) { await Task.yield() }
    }

    /// Lets the thread go on, and whoever comes later pass.
    func open() {
        isOpen.store(true, ordering: .releasing)
        opened.wake()
    }
}

/// Collects what a store reports.
final class Events: Sendable {
    private let events = Mutex<[StoreEvent]>([])

    func append(_ event: StoreEvent) { events.withLock { $0.append(event) } }

    var all: [StoreEvent] { events.withLock { $0 } }

    /// How often a full disk was reported.
    var diskFull: Int { all.filter { if case .diskFull = $0 { true } else { false } }.count }
}

extension TaskText {
    /// The text, with its failure as a store's: for bodies that throw only those.
    static func checked(_ words: String) throws(StoreError) -> TaskText {
        do throws(TaskText.Failure) { return try TaskText(words) } catch { throw .broken(reason: "\(error)") }
    }
}

extension TaskStore {
    /// Those of the ids under which there is a task.
    func found(_ ids: ClosedRange<Int64>, of owner: Owner) async throws -> [Int64] {
        var found: [Int64] = []
        for id in ids where try await find(id, of: owner) != nil { found.append(id) }
        return found
    }
}
