/// Removes everything of an owner: tasks, idempotency keys, and later the owner's row.
///
/// The outcome says whether there may be more to remove. The first transaction notes the deletion in the owner's row,
/// so that no token that was issued before adds anything meanwhile or later. The row keeps the next id for as long as
/// the mark (``OwnerRow/markLifetime``).
package struct RemoveOwner: TaskCommand {
    package typealias Outcome = Bool
    package let owner: Owner
    package var issued: Int64
    /// Milliseconds since 1970, UTC.
    package let time: Int64

    package init(owner: Owner, issued: Int64, time: Int64) {
        self.owner = owner
        self.issued = issued
        self.time = time
    }

    package var weight: Int { RemoveTasks.most }
    package var reads: CommandReads { .row(key: nil) }

    package func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Bool {
        var row = try tasks.row() ?? OwnerRow()
        // With a token from before an earlier deletion, the command continues that deletion, and removes nothing newer.
        if !row.wasDeleted(after: issued) {
            // The authority's clock may be ahead.
            (row.deleted, row.firstID, row.change) = (max(time, issued), row.next, row.change &+ 1)
            try tasks.mark(row)
        }
        let ids = try tasks.ids(of: .before(row.firstID))
        try tasks.remove(ids, at: time)
        try tasks.forgetRecords(ofTasksBefore: row.firstID)
        try tasks.forgetRemovedTasks()
        return ids.count == RemoveTasks.most
    }

    package func outcome<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) -> Result<Bool, StoreError> {
        .success(try run(on: &tasks))
    }
}

/// Removes the tasks and idempotency keys of an owner, all of which another owner has now; the row keeps the next id.
package struct EmptyOwner: TaskCommand {
    package typealias Outcome = Void
    package let owner: Owner
    package var issued = Int64.max
    /// The ids of all tasks.
    private let ids: [Int64]
    /// Milliseconds since 1970, UTC.
    private let time: Int64

    package init(_ owner: Owner, ofTasks ids: [Int64], at time: Int64) {
        (self.owner, self.ids, self.time) = (owner, ids, time)
    }

    package var reads: CommandReads { .tasks([]) }

    package func run<Transaction: OwnerTransaction & ~Copyable>(
        on tasks: inout Transaction
    ) throws(Transaction.Failure) {
        try tasks.remove(ids, at: time)
        try tasks.forgetRecords(ofTasksBefore: .max)
        try tasks.forgetRemovedTasks()
        // Clients read the whole list again.
        if let row = try tasks.row() { try tasks.renew(row) }
    }
}
