import IssuerKeys
import Platform
import Synchronization
import Tasks

/// Whether the server can answer: keys to verify tokens of at least one source with, and a store that answers.
///
/// A provider that is out of reach concerns its own people only, so the server is ready for the others (P-18).
/// The store is asked at most once a second, so that no one can load the writer by asking.
final class Readiness: Sendable {
    private struct Memory {
        /// When the store was asked last.
        var asked: UInt64 = 0
        /// The answer that the store gave then, or will give; everyone who asks meanwhile waits for this answer.
        var answer: Task<String?, Never>?
        /// Whether the store was good when it last answered.
        var isStoreGood = false
        var isStopping = false
    }

    private let verifier: BearerVerifier
    private let store: any TaskStore
    private let time: any TimeSource
    private let started: UInt64
    private let memory = Mutex(Memory())

    init(_ verifier: BearerVerifier, _ store: any TaskStore, time: any TimeSource = SystemTime()) {
        self.verifier = verifier
        self.store = store
        self.time = time
        started = time.monotonicNanoseconds
    }

    /// Makes the server not ready from now on, so that no balancer sends more requests.
    func stop() {
        memory.withLock { $0.isStopping = true }
    }

    /// Returns why the server cannot answer, or nil if it can.
    func reason() async -> String? {
        if memory.withLock({ $0.isStopping }) { return "stopping" }
        if let reason = keyReason { return reason }
        return await storeAnswer.value
    }

    /// Whether the server could answer when the store last answered, for metrics: asks the store again, but does not
    /// wait.
    var isReady: Bool {
        guard !memory.withLock({ $0.isStopping }), keyReason == nil else { return false }
        _ = storeAnswer
        return memory.withLock { $0.isStoreGood }
    }

    /// The store's answer, at most a second old; concurrent callers share one check.
    private var storeAnswer: Task<String?, Never> {
        let now = time.monotonicNanoseconds
        return memory.withLock { memory in
            if let answer = memory.answer, now - min(now, memory.asked) < 1_000_000_000 { return answer }
            let answer = Task {
                let reason = await storeReason()
                self.memory.withLock { $0.isStoreGood = reason == nil }
                return reason
            }
            memory.asked = now
            memory.answer = answer
            return answer
        }
    }

    /// How long a source that serves waits at the start for the first attempt of the others.
    private static let patience: UInt64 = 2_000_000_000

    private var keyReason: String? {
        let open = verifier.statuses.filter { !$0.isClosed }
        let reasons = open.compactMap { source in
            Self.reason(source.keys).map { reason in source.name.map { "\($0): \(reason)" } ?? reason }
        }
        guard !open.isEmpty else { return "no source is open" }
        guard reasons.count < open.count else { return reasons.joined(separator: "; ") }
        let isStarting = time.monotonicNanoseconds - started < Self.patience
        guard isStarting, open.contains(where: { $0.keys.counters.refreshes == 0 }) else { return nil }
        return reasons.first
    }

    private static func reason(_ status: KeyStatus) -> String? {
        switch status.state {
        case .fresh where status.counters.refreshes == 0:
            // Some policies are loaded, others not yet: a request may have to wait.
            return "the keys of the authority are being fetched"
        case .fresh, .stale: return nil
        case .empty: return "no keys of the authority yet\(status.lastFailure.map { ": \($0)" } ?? "")"
        case .expired: return "the keys of the authority are too old\(status.lastFailure.map { ": \($0)" } ?? "")"
        }
    }

    private func storeReason() async -> String? {
        do throws(StoreError) {
            try await store.check()
            return nil
        } catch {
            switch error {
            case .overloaded, .withdrawn, .noRoomForAnswer, .ownerDeleted: return "the store is overloaded"
            case .unavailable: return "the store cannot be reached"
            case .full: return "the disk is full"
            case .broken: return "the store is broken; the log says more"
            }
        }
    }
}
