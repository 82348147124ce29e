import Basics
import HTTP
import Tasks

/// Why a valid request cannot be done in the present state.
enum StateFailure: Error {
    /// The task does not exist, or belongs to another person. Both get the same answer.
    case noSuchTask
    /// Of a list of changes: tasks of these ids do not exist, or belong to another person.
    case noSuchTasks([Int64])
    case tooManyTasks(limit: Int)
    /// `If-Match` names another state.
    case changedMeanwhile
    /// Of a list of changes: tasks of these ids are in another state than `ifMatch` names.
    case tasksChangedMeanwhile([Int64])
    case store(StoreError)

    var problem: Problem {
        switch self {
        case .noSuchTask:
            Problem(404, "task.not_found", "No such task", "You have no task with this id; GET /api/tasks lists yours.")
        case .noSuchTasks(let ids):
            Problem(
                404, "task.not_found", "No such task",
                "Nothing was changed, because you have no tasks with the ids in ids; GET /api/tasks lists yours.",
                identifiers: ids)
        case .tooManyTasks(let limit):
            Problem(
                409, "task.too_many", "Too many tasks",
                "You have \(limit.counted("task")), the most that one person may have; delete some first.")
        case .changedMeanwhile:
            Problem(
                412, "task.changed", "The task was changed meanwhile",
                "It is not in the state that If-Match names; GET it again, and change that.")
        case .tasksChangedMeanwhile(let ids):
            Problem(
                412, "task.changed", "The task was changed meanwhile",
                "Nothing was changed, because the tasks with the ids in ids are not in the state that their ifMatch names; "
                    + "GET them again, and change that.", identifiers: ids)
        case .store(let error):
            Self.problem(of: error)
        }
    }

    private static func problem(of error: StoreError) -> Problem {
        switch error {
        case .overloaded, .withdrawn:
            Problem(
                503, "store.overloaded", "Too busy", "Too many changes wait at the moment; try again shortly.",
                headers: ["Retry-After": "1"])
        case .noRoomForAnswer:
            Problem(
                503, "list.no_room", "Too many long lists are being sent",
                "Read the lists that you asked for to their end, or ask for less with ?limit=; try again shortly.",
                headers: ["Retry-After": "5"])
        case .unavailable:
            Problem(
                503, "store.unavailable", "The store cannot be reached",
                "A change may have been made or not; try again shortly, with the same Idempotency-Key.",
                headers: ["Retry-After": "5"])
        case .full:
            Problem(
                507, "store.full", "The disk is full", "Nothing was changed; the server's operator must make room.")
        case .broken:
            Problem(
                500, "store.broken", "The store failed",
                "Try again; if it fails again, give the server's operator the request id.")
        }
    }
}
