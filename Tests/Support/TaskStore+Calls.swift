import Platform
import Tasks

/// Calls that suspend until they are answered.
extension TaskStore {
    package func read(_ query: ListTasks) async throws(StoreError) -> TaskList {
        try await outcome { read(query, $0) }
    }

    package func read(_ query: FindTask) async throws(StoreError) -> TaskItem? {
        try await outcome { read(query, $0) }
    }

    package func read(_ query: ListChanges) async throws(StoreError) -> ChangesOutcome {
        try await outcome { read(query, $0) }
    }

    package func perform(_ command: AddTask) async throws(StoreError) -> AddOutcome {
        try await outcome { perform(command, $0) }
    }

    package func perform(_ command: ChangeTask) async throws(StoreError) -> ChangeOutcome {
        try await outcome { perform(command, $0) }
    }

    package func perform(_ command: ChangeTasks) async throws(StoreError) -> ChangeAllOutcome {
        try await outcome { perform(command, $0) }
    }

    package func perform(_ command: RemoveTask) async throws(StoreError) -> RemoveOutcome {
        try await outcome { perform(command, $0) }
    }

    package func perform(_ command: RemoveTasks) async throws(StoreError) -> Int {
        try await outcome { perform(command, $0) }
    }

    package func perform(_ command: RemoveOwner) async throws(StoreError) {
        try await outcome { perform(command, $0) }
    }
}

/// Commands and queries as calls, in which tests name only what they are about.
extension TaskStore {
    package func list(_ selection: TaskQuery, of owner: Owner) async throws(StoreError) -> TaskList {
        try await read(ListTasks(owner: owner, selection: selection))
    }

    package func find(_ id: Int64, of owner: Owner) async throws(StoreError) -> TaskItem? {
        try await read(FindTask(owner: owner, id: id))
    }

    package func add(
        _ text: String, completed: Bool = false, details: TaskDetails = TaskDetails(), at time: Int64 = 1000,
        key: IdempotencyKey? = nil, limit: Int = 10_000, of owner: Owner
    ) async throws -> AddOutcome {
        try await perform(
            AddTask(
                owner: owner, text: try TaskText(text), completed: completed, details: details, time: time, key: key,
                limit: limit))
    }

    package func change(
        _ id: Int64, _ change: TaskChange, expected: Set<Int64>?, at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeOutcome {
        try await perform(ChangeTask(owner: owner, id: id, change: change, expected: expected, time: time))
    }

    package func changeAll(
        _ changes: [IdentifiedChange], at time: Int64, of owner: Owner
    ) async throws(StoreError) -> ChangeAllOutcome {
        try await perform(ChangeTasks(owner: owner, changes: changes, time: time))
    }

    package func remove(
        _ id: Int64, expected: Set<Int64>?, at time: Int64 = SystemTime().wallMilliseconds, of owner: Owner
    ) async throws(StoreError) -> RemoveOutcome {
        try await perform(RemoveTask(owner: owner, id: id, expected: expected, time: time))
    }

    package func removeAll(
        with text: TaskText, at time: Int64 = SystemTime().wallMilliseconds, of owner: Owner
    ) async throws(StoreError) -> Int {
        try await perform(RemoveTasks(owner: owner, .withText(text), time: time))
    }

    package func removeCompleted(at time: Int64 = SystemTime().wallMilliseconds, of owner: Owner)
        async throws(StoreError) -> Int
    {
        try await perform(RemoveTasks(owner: owner, .completed, time: time))
    }
}
