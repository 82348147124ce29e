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
        let changes = try ChangeList(body: body, head: request.head).changes
        return .pending { [self] () async throws(APIFailure) in
            let lease = try await storing(withRoomOf: owner) { () throws(StoreError) in
                try leaseMemory(for: changes, of: owner)
            }
            defer { withExtendedLifetime(lease) {} }
            let command = ChangeTasks(owner: owner, changes: changes, time: time.wallMilliseconds)
            switch try await storing(command, store.perform) {
            case .changed(nil): return Response(204)
            case .changed(let tasks?):
                var response = Self.json(tasks.json)
                response.kept = tasks.lease
                return response
            case .missing(let ids): throw .state(.noSuchTasks(ids))
            case .conflict(let ids): throw .state(.tasksChangedMeanwhile(ids))
            case .contradiction(let number, let value): throw .input(.change(number: number, .contradiction(value)))
            }
        }
    }

    /// Leases memory for many changes, without their texts, while they wait for their transaction; nil for a few.
    private func leaseMemory(
        for changes: [IdentifiedChange], of owner: Owner
    ) throws(StoreError) -> AnswerLease? {
        let bytes = changes.count * MemoryLayout<IdentifiedChange>.stride
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
