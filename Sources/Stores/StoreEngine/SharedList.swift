private import Synchronization
package import Tasks

/// A list that is read once for all callers who asked for it before the read began.
///
/// Several windows or devices of one person often ask for the same list at once. A caller may share a read only until the
/// read begins, because every caller must see what was committed before its request.
package final class SharedList: Sendable {
    package let query: ListTasks
    private let callers: Mutex<[(call: Int, reply: Reply<TaskList>)]>

    init(_ query: ListTasks, for call: Int, _ reply: Reply<TaskList>) {
        self.query = query
        callers = Mutex([(call, reply)])
    }

    var count: Int { callers.withLock { $0.count } }

    /// Takes the callers of an equal list.
    func join(_ other: SharedList) {
        let others = other.callers.withLock { $0 }
        callers.withLock { $0 += others }
    }

    /// Removes a caller who has left; nil if the caller is not among those of this list.
    func remove(_ call: Int) -> Reply<TaskList>? {
        callers.withLock { callers in
            callers.firstIndex { $0.call == call }.map { callers.remove(at: $0).reply }
        }
    }

    package func answer(_ result: Result<TaskList, StoreError>) {
        for caller in callers.withLock({ $0 }) { caller.reply.answer(result) }
    }
}
