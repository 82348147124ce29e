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
        let lease = try lease(changes.count, for: owner)
        return .pending { [self] () async throws(APIFailure) in
            // The tasks are in memory until they are rendered.
            defer { withExtendedLifetime(lease) {} }
            let outcome = try await storing { () throws(StoreError) in
                try await store.changeAll(changes, at: time.wallMilliseconds, of: owner)
            }
            switch outcome {
            case .changed(let tasks):
                // Their size is known now, and the rest free for the answer.
                guard lease?.resize(to: Self.size(of: tasks)) ?? true else { return Response(204) }
                return answer(tasks, of: owner)
            case .missing(let ids): throw .state(.noSuchTasks(ids))
            case .conflict(let ids): throw .state(.tasksChangedMeanwhile(ids))
            }
        }
    }

    /// Bytes of a task in memory without its text and notes.
    private static let bareTask = 100

    private static func size(of tasks: [TaskItem]) -> Int {
        tasks.reduce(0) { sum, task in
            sum + task.text.value.utf8.count + (task.details.notes?.value.utf8.count ?? 0) + bareTask
        }
    }

    /// Memory for this many tasks as a store gives them back, were all of them as long as possible; nil for one.
    ///
    /// At most the quarter that one person may have if no one else holds some: a small `TASKS_ANSWER_MEMORY` takes
    /// long lists of changes, too.
    private func lease(_ count: Int, for owner: Owner) throws(APIFailure) -> AnswerLease? {
        let most = count * (TaskText.longest + TaskNotes.longest + Self.bareTask)
        guard most > AnswerMemory.unleased else { return nil }
        guard let lease = answers.lease(min(most, answers.limit / 4), for: owner) else {
            throw .state(.store(.noRoomForAnswer))
        }
        return lease
    }

    /// The tasks after their changes; 204 without them if they are too long for one answer, since the changes are made.
    private func answer(_ tasks: [TaskItem], of owner: Owner) -> Response {
        var page = TaskPage(of: owner, atMost: nil, in: answers)
        for task in tasks {
            guard (try? page.append(task)) == true else { return Response(204) }
        }
        let list = page.list()
        var response = Self.json(list.json)
        response.kept = list.lease.map { KeptObject($0) }
        return response
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
            let count = try await storing { () throws(StoreError) in try await store.removeCompleted(of: owner) }
            return Self.json(JSONValue.object(["deleted": .integer(Int64(count))]).serialized())
        }
    }

    private static func json(_ bytes: [UInt8]) -> Response {
        Response(200, headers: ["Content-Type": "application/json; charset=utf-8"], body: bytes)
    }
}
