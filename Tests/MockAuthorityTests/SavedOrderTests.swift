import Glibc
@testable import MockAuthority
import OpenSSL
import Platform
import Synchronization
import Testing

@Suite("Accounts and keys are saved in the order of their changes")
struct SavedOrderTests {
    @Test func `A list of accounts is saved before the next change`() throws {
        let saver = SlowSaver<[User]>()
        let directory = Directory([], changed: saver.save)
        let threads = try User.defaults.map { user in try NamedThread.start("put") { directory.put(user) } }
        for thread in threads { thread.join() }
        #expect(directory.all.count == 2 && saver.last == directory.all)
    }

    @Test func `Keys are saved before the next change`() async throws {
        let saver = SlowSaver<[String]>()
        let key = TokenSigningKey(SharedKeys.all[0], notBefore: 0)
        var state = KeyRing.State()
        (state.published, state.active) = ([key], key.identifier)
        let ring = KeyRing(
            state, generator: .prepared(Array(SharedKeys.all.dropFirst())), naming: KeyNaming(), now: { 0 },
            changed: { saver.save($0.published.map(\.identifier)) })
        async let first = ring.take(.publish)
        async let second = ring.take(.publish)
        _ = try await (first, second)
        #expect(try await ring.current().published.map(\.identifier) == saver.last)
        #expect(saver.last?.count == 3)
    }

    @Test func `Revocations at the same time are all counted`() throws {
        let directory = Directory(User.defaults)
        let alice = User.defaults[0].objectID
        let threads = try (0..<2).map { _ in
            try NamedThread.start("revoke") { for _ in 0..<2000 { directory.revoke(alice) } }
        }
        for thread in threads { thread.join() }
        #expect(directory.user(alice)?.status.generation == 4000)
    }
}

/// Saves the first value slowly: not before another one was saved meanwhile, or after a fifth of a second.
private final class SlowSaver<Value: Sendable>: Sendable {
    private let state = Mutex<(begun: Int, saved: [Value])>((0, []))

    var last: Value? { state.withLock { $0.saved.last } }

    func save(_ value: Value) {
        let isFirst = state.withLock { state in
            state.begun += 1
            return state.begun == 1
        }
        let end = ContinuousClock.now + .milliseconds(200)
        while isFirst, last == nil, ContinuousClock.now < end { usleep(2000) }
        state.withLock { $0.saved.append(value) }
    }
}
