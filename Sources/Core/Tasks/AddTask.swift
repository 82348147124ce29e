/// Adds a task.
///
/// A key makes a retry safe: the same key of the same owner adds once and answers the same task again, for a day, and
/// while at most ``IdempotencyKey/remembered`` keys of the owner are as new or newer. Other keys are removed by one of
/// the owner's next additions with a key, and keys older than a day soon in any case. An owner who has `limit` tasks
/// already gets ``AddOutcome/full``.
package struct AddTask: TaskCommand {
    package typealias Outcome = AddOutcome
    package let owner: Owner
    package var issued = Int64.max
    package let text: TaskText
    package let completed: Bool
    package let details: TaskDetails
    /// Milliseconds since 1970, UTC.
    package let time: Int64
    package let key: IdempotencyKey?
    /// The number of tasks that an owner may have.
    package let limit: Int

    package init(
        owner: Owner, text: TaskText, completed: Bool, details: TaskDetails = TaskDetails(), time: Int64,
        key: IdempotencyKey?, limit: Int
    ) {
        self.owner = owner
        self.text = text
        self.completed = completed
        self.details = details
        self.time = time
        self.key = key
        self.limit = limit
    }

    /// The task that this command adds under an id.
    package func item(_ id: Int64) -> TaskItem {
        TaskItem(
            id: id, owner: owner, text: text, completed: completed, created: time, modified: time, details: details)
    }

    package var payload: Int { text.value.utf8.count + details.bytes }
    package var reads: CommandReads { .row(key: key?.key) }

    package func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> AddOutcome {
        let row = try tasks.row() ?? OwnerRow()
        if let key, let earlier = try tasks.record(of: key.key), earlier.isLive(at: time) {
            return earlier.outcome(for: key)
        }
        guard row.tasks < limit else { return .full }
        let item = try tasks.add(self, to: row)
        if let key {
            try tasks.put(IdempotencyRecord(key: key, item: item))
            try tasks.limitRecords(next: item.id + 1)
        }
        return .added(item)
    }
}

package enum AddOutcome: Sendable, Equatable {
    /// Added, durably.
    case added(TaskItem)
    /// The key was used before for the same request; this is the task as it was added then.
    case repeated(TaskItem)
    /// The key was used before for another request.
    case keyReused
    /// The owner has as many tasks as the limit allows.
    case full
}
