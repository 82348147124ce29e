internal import OpenSSL
internal import Synchronization

/// What can be done to the keys of a running authority.
package enum KeyStep: String, Sendable, CaseIterable {
    /// Shows one more key in the set, and signs with the old one still: what real services do first.
    case publish
    /// Signs with the newest published key; the old one stays in the set.
    case activate
    /// Takes every key out of the set that does not sign.
    case retire
    /// All three at once: the harsh test.
    case rotate
}

/// The keys of an authority: some published, one of them signing, some gone.
///
/// Making a key takes a tenth of a second, so every key is made away from the caller's thread, and only when somebody
/// needs it; the first one is begun at the start.
final class KeyRing: Sendable {
    typealias Making = Task<Result<SigningKey, RSAError>, Never>

    /// The keys that exist.
    struct State: Sendable {
        /// In the set, oldest first.
        var published: [SigningKey] = []
        /// The `kid` of the one that signs.
        var active: String?
        /// Once in the set.
        var retired: [SigningKey] = []

        var signing: SigningKey? {
            published.first { $0.identifier == active }
        }
    }

    private let state: Mutex<State>
    private let first: Making?
    private let hidden = Mutex<Making?>(nil)
    private let source: KeySource
    private let era: Era
    private let now: @Sendable () -> Int64
    private let changed: @Sendable (State) -> Void

    /// A ring that begins with these keys, or with one that it makes.
    init(
        _ saved: State, source: KeySource, era: Era, now: @escaping @Sendable () -> Int64,
        changed: @escaping @Sendable (State) -> Void
    ) {
        self.source = source
        self.era = era
        self.now = now
        self.changed = changed
        first = saved.signing == nil ? Self.making(source, now, era.keyName(1)) : nil
        state = Mutex(saved)
    }

    private static func making(
        _ source: KeySource, _ now: @escaping @Sendable () -> Int64, _ name: String?
    ) -> Making {
        Task.detached {
            do throws(RSAError) {
                return .success(SigningKey(try source.make(), notBefore: now(), name: name))
            } catch {
                return .failure(error)
            }
        }
    }

    private func make() async throws(RSAError) -> SigningKey {
        let number = state.withLock { $0.published.count + $0.retired.count + 1 }
        return try await Self.making(source, now, era.keyName(number)).value.get()
    }

    /// The keys, the first of them made.
    func current() async throws(RSAError) -> State {
        let state = state.withLock { $0 }
        guard state.signing == nil, let first else { return state }
        let key = try await first.value.get()
        return change { state in
            guard state.signing == nil else { return }
            state.published.append(key)
            state.active = key.identifier
        }
    }

    /// The key that signs.
    func signing() async throws(RSAError) -> SigningKey {
        guard let key = try await current().signing else { throw .notPrivateKey }
        return key
    }

    /// A key that was never in the set.
    func unpublished() async throws(RSAError) -> SigningKey {
        let making = hidden.withLock { hidden in
            let making = hidden ?? Self.making(source, now, nil)
            hidden = making
            return making
        }
        return try await making.value.get()
    }

    /// A key that is in the set no longer: the last retired one, or one made as if.
    func retired() async throws(RSAError) -> SigningKey {
        if let key = try await current().retired.last { return key }
        let key = try await make()
        let state = change { if $0.retired.isEmpty { $0.retired.append(key) } }
        return state.retired.last ?? key
    }

    /// Does a step; without a key to activate nothing changes.
    func take(_ step: KeyStep) async throws(RSAError) -> State {
        _ = try await current()
        switch step {
        case .publish: return change(with: try await make()) { $0.published.append($1) }
        case .activate: return change { $0.active = $0.published.last?.identifier }
        case .retire: return change { $0.retire() }
        case .rotate:
            return change(with: try await make()) { state, key in
                state.published.append(key)
                state.active = key.identifier
                state.retire()
            }
        }
    }

    private func change(with key: SigningKey, _ body: (inout State, SigningKey) -> Void) -> State {
        change { body(&$0, key) }
    }

    private func change(_ body: (inout State) -> Void) -> State {
        let state = state.withLock { state in
            body(&state)
            return state
        }
        changed(state)
        return state
    }
}

extension KeyRing.State {
    /// Takes every key out of the set that does not sign.
    fileprivate mutating func retire() {
        retired += published.filter { $0.identifier != active }
        published.removeAll { $0.identifier != active }
        retired.removeFirst(max(0, retired.count - 8))
    }
}
