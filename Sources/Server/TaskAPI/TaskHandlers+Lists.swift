import Basics
import HTTP
import JSON
import Platform
import Tasks
import Tokens

/// Changes of several tasks with one request.
extension TaskHandlers {
    /// `PATCH /api/tasks`: all changes of the list, or none.
    func changeAll(_ request: APIRequest, _ principal: Principal, body: [UInt8]) throws(APIFailure) -> HandlerResult {
        try request.head.requireNoCondition("the ifMatch of each change is its condition")
        let owner = Owner(principal.owner)
        let list = try ChangeList(body: body, head: request.head)
        return .pending { [self] () async throws(APIFailure) in
            let lease = try await storing(withRoomOf: owner) { () throws(StoreError) in
                try leaseMemory(for: list, of: owner)
            }
            defer { withExtendedLifetime(lease) {} }
            switch try await perform(list, of: owner) {
            case .changed(nil): return Response(204)
            case .changed(let tasks?):
                var response = Self.json(tasks.json)
                response.kept = tasks.lease
                return response
            case .missing(let ids): throw .state(.noSuchTasks(ids))
            case .conflict(let ids): throw .state(.tasksChangedMeanwhile(ids))
            }
        }
    }

    /// Makes a list of changes; see ``perform(_:of:_:_:)`` for those that need the stored task.
    private func perform(_ list: ChangeList, of owner: Owner) async throws(APIFailure) -> ChangeAllOutcome {
        for _ in 0..<Self.mostDecisions {
            let changes = try await list.decided { (id) async throws(APIFailure) in
                try await storing(FindTask(owner: owner, id: id), store.read)
            }
            let command = ChangeTasks(owner: owner, changes: changes, time: time.wallMilliseconds)
            let outcome = try await storing(command, store.perform)
            guard case .conflict(let ids) = outcome else { return outcome }
            let conflicts = list.conflicts(among: ids)
            guard conflicts.isEmpty else { return .conflict(conflicts) }
        }
        throw .state(.store(.overloaded))
    }

    /// Leases memory for many changes, without their texts, while they wait for their transaction; nil for a few.
    private func leaseMemory(
        for list: ChangeList, of owner: Owner
    ) throws(StoreError) -> AnswerLease? {
        let bytes =
            list.changes.count * MemoryLayout<IdentifiedChange>.stride
            + list.undecided.count * MemoryLayout<GivenChange>.stride
        guard bytes > AnswerMemory.unleased else { return nil }
        guard let lease = answers.lease(bytes, for: owner) else { throw .noRoomForAnswer(bytes: bytes) }
        return lease
    }

    /// `DELETE /api/tasks?completed=true` without a body: all completed tasks; everything else as
    /// ``removeAll(_:_:body:)``.
    func removeAllOrCompleted(
        _ request: APIRequest, _ principal: Principal, body: [UInt8]
    ) throws(APIFailure) -> HandlerResult {
        let query = request.head.target.query
        guard body.isEmpty, query.count == 1, request.head.target["completed"] == "true" else {
            return try removeAll(request, principal, body: body)
        }
        try request.head.requireNoCondition()
        let owner = Owner(principal.owner)
        return .pending { [self] () async throws(APIFailure) in
            let count = try await storing(RemoveTasks(owner: owner, .completed), store.perform)
            return Self.json(JSONValue.object(["deleted": .integer(Int64(count))]).serialized())
        }
    }

    static func json(_ bytes: [UInt8]) -> Response {
        Response(200, headers: jsonType, body: bytes)
    }
}
