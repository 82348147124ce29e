import Basics
import HTTP
import Support
import Synchronization
import TaskAPI
import Tasks
import Testing

@Suite("A removal of many tasks, whose second transaction fails")
struct InterruptedRemovalTests {
    @Test(
        "The answer says that a part may be gone, and that the request can be repeated",
        arguments: ["/api/tasks?completed=true", "/api/me"])
    func full(target: String) async throws {
        let store = FillingStore()
        let alice = Owner(NameVerifier.alice)
        let api = TestedAPI(.inProcess) { $0.store = store }
        for _ in 0..<RemoveTasks.most + 1 {
            _ = try await store.add("x", completed: true, of: alice)
        }
        store.runsUntilFull.store(1, ordering: .relaxed)
        func delete() async throws -> Response {
            try await api.send("DELETE", target, as: "alice", [("Confirm-Delete", "yes")])
        }
        let answer = try await delete()
        #expect(answer.status == 507)
        #expect(!answer.text.contains("Nothing was changed"), "\(answer.text)")
        #expect(answer.text.contains("may have removed a part") && answer.text.contains("again"), "\(answer.text)")
        #expect(try await store.find(Int64(RemoveTasks.most) + 1, of: alice) != nil)
        store.runsUntilFull.store(.max, ordering: .relaxed)
        #expect([200, 204].contains(try await delete().status))
        #expect(try await store.find(Int64(RemoveTasks.most) + 1, of: alice) == nil)
    }
}

/// A store in memory that has no room after some commands.
private final class FillingStore: CommandStore {
    private let inner = MemoryTaskStore()
    let runsUntilFull = Atomic(Int.max)

    var commits: CommitListeners { inner.commits }

    func run<Command: TaskCommand>(
        _ command: Command, _ answer: @escaping StoreAnswer<Command.Outcome>
    ) -> Cancellation {
        guard runsUntilFull.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 else {
            answer(.failure(.full))
            return {}
        }
        return inner.run(command, answer)
    }

    func read(_ query: ListTasks, _ answer: @escaping StoreAnswer<TaskList>) -> Cancellation {
        inner.read(query, answer)
    }

    func read(_ query: FindTask, _ answer: @escaping StoreAnswer<TaskItem?>) -> Cancellation {
        inner.read(query, answer)
    }

    func read(_ query: ListChanges, _ answer: @escaping StoreAnswer<ChangesOutcome>) -> Cancellation {
        inner.read(query, answer)
    }

    func changeNumbers(of owners: [Owner]) async throws(StoreError) -> [Owner: Int64] {
        try await inner.changeNumbers(of: owners)
    }

    func check() async throws(StoreError) { try await inner.check() }
    func close() { inner.close() }
}
