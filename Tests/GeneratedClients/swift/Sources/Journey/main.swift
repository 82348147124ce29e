import Foundation
import Todo

// The journey of test_generated_clients.py with the generated client for Swift.

struct Failed: Error {
    let what: String
}

func expect(_ holds: Bool, _ what: String) throws {
    if !holds { throw Failed(what: what) }
}

/// Returns the problem with which a request is refused.
func refusal(of request: () async throws -> Void) async throws -> TodoProblem {
    do {
        try await request()
    } catch ErrorResponse.error(let status, let data?, _, _) {
        let problem = try JSONDecoder().decode(TodoProblem.self, from: data)
        try expect(problem.status == status, "the problem has the status of the answer, \(status)")
        return problem
    }
    throw Failed(what: "a request was not refused")
}

let environment = ProcessInfo.processInfo.environment
let fields = { (token: String) in ["Authorization": "Bearer \(token)"] }
TodoAPIConfiguration.shared.basePath = environment["TASKS_URL"] ?? ""
TodoAPIConfiguration.shared.customHeaders = fields(environment["ACCESS_TOKEN"] ?? "")

let person = try await MeAPI.whoAmI()
try expect(person.expires > Date(), "the token is valid")

let new = NewTask(task: "Buy milk", due: "2026-12-24", notes: "Oat", position: 2.5)
let key = UUID().uuidString
let added = try await TasksAPI.addTask(newTask: new, idempotencyKey: key)
try expect(added.owner == person.owner && added.task == "Buy milk" && !added.completed, "the task is added")
try expect(added.due == "2026-12-24" && added.notes == "Oat" && added.position == 2.5, "the details are kept")
try expect(abs(added.date.timeIntervalSinceNow) < 60, "the task was added now")
let again = try await TasksAPI.addTask(newTask: new, idempotencyKey: key)
try expect(again == added, "a repeated request adds nothing")

let seen = try await TasksAPI.getTaskWithRequestBuilder(id: added.id).execute()
// Foundation may write the name as Etag.
let tag = seen.header.first { $0.key.lowercased() == "etag" }?.value
try expect(seen.body == added && tag != nil, "the task has an ETag")
let done = try await TasksAPI.changeTask(id: added.id, taskPatch: TaskPatch(completed: true), ifMatch: tag)
try expect(done.completed && done.due == "2026-12-24" && done.notes == "Oat", "only what the patch names is changed")
let stale = try await refusal {
    _ = try await TasksAPI.changeTask(id: added.id, taskPatch: TaskPatch(task: "Buy bread"), ifMatch: tag)
}
try expect(stale.code == "task.changed" && stale.status == 412, "a change of another state is refused")
let bare = try await TasksAPI.changeTask(id: added.id, taskPatch: TaskPatch(remove: ["due"]))
try expect(bare.due == nil && bare.notes == "Oat" && bare.completed, "a detail is removed by its name")

var ids = [added.id]
for text in ["a", "b", "c", "d"] {
    ids.append(try await TasksAPI.addTask(newTask: NewTask(task: text)).id)
}
let changed = try await TasksAPI.changeTasks(taskChange: ids.map { TaskChange(id: $0, completed: true) })
try expect(changed.map(\.id) == ids && changed.allSatisfy(\.completed), "many tasks are changed at once")
let unknown = try await refusal {
    _ = try await TasksAPI.changeTasks(taskChange: [TaskChange(id: 12345, completed: false)])
}
try expect(unknown.ids == [12345] && unknown.status == 404, "the problem names the task that does not exist")

var pages: [[Int64]] = []
var after: Int64 = 0
var hasMore = true
while hasMore {
    let page = try await TasksAPI.listTasksWithRequestBuilder(limit: 2, after: after).execute()
    pages.append(page.body.map(\.id))
    after = page.body.last?.id ?? after
    hasMore = page.header["Link"] != nil
}
try expect(pages == [Array(ids[..<2]), Array(ids[2..<4]), Array(ids[4...])], "the list comes in pages")

try await TasksAPI.deleteTask(id: added.id)
let gone = try await refusal { _ = try await TasksAPI.getTask(id: added.id) }
try expect(gone.code == "task.not_found", "the task is deleted")
let deleted = try await TasksAPI.deleteCompletedTasks(completed: true)
try expect(deleted.deleted == 4, "the tasks that are done are deleted")
let rest = try await TasksAPI.listTasks()
try expect(rest.isEmpty, "nothing is left")

TodoAPIConfiguration.shared.customHeaders = fields("a.b.c")
let refused = try await refusal { _ = try await TasksAPI.listTasks() }
try expect(refused.code == "token.invalid" && refused.status == 401, "a wrong token is refused")
