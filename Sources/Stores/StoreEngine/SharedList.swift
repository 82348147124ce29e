private import Synchronization
package import Tasks

/// The lists that wait to be read, of which equal ones share one read.
///
/// Several windows or devices of one person often ask for the same list at once. A caller may share a read only until the
/// read begins, because every caller must see what was committed before its request.
package final class SharedLists: Sendable {
    private let waiting = Mutex<[ListTasks: SharedList]>([:])

    package init() {}

    /// Adds a caller; returns the list that must be read for it, or nil if an equal one waits already.
    package func add(_ caller: Reply<TaskList>, for query: ListTasks) -> SharedList? {
        waiting.withLock { waiting in
            if let list = waiting[query] {
                list.add(caller)
                return nil
            }
            let list = SharedList(query, for: caller, in: self)
            waiting[query] = list
            return list
        }
    }

    /// Lets no more callers share the list.
    fileprivate func close(_ list: SharedList) {
        waiting.withLock { if $0[list.query] === list { $0[list.query] = nil } }
    }
}

/// A list that is read once for all callers who asked for it before the read began.
package final class SharedList: Sendable {
    package let query: ListTasks
    private let lists: SharedLists
    private let callers: Mutex<[Reply<TaskList>]>

    fileprivate init(_ query: ListTasks, for caller: Reply<TaskList>, in lists: SharedLists) {
        self.query = query
        self.lists = lists
        callers = Mutex([caller])
    }

    fileprivate func add(_ caller: Reply<TaskList>) { callers.withLock { $0.append(caller) } }

    /// Lets no more callers share the list, because the read begins now.
    package func close() { lists.close(self) }

    package func answer(_ result: Result<TaskList, StoreError>) {
        close()
        for caller in callers.withLock({ $0 }) { caller.answer(result) }
    }
}
