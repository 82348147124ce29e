import StoreEngine
import Tasks

/// Chooses which of the waiting writes share the next transaction.
struct WriteOrder {
    var weight = Job.mostWeight
    /// A transaction may not cover owners of several servers.
    let isOneOwnerOnly: Bool

    /// Takes the write that has waited longest, and those of its scope that may be sent now, until the transaction is full.
    ///
    /// Writes of the busy owners wait, because another session would keep their rows of `owners` locked.
    func next(of waiting: inout [Job], except busy: Set<Owner>, at now: UInt64) -> [Job] {
        func isDue(_ job: Job) -> Bool {
            job.retry.notBefore <= now && (busy.isEmpty || !busy.contains(job.owner))
        }
        guard let first = waiting.first(where: isDue) else { return [] }
        let scope = first.retry.scope
        let owner = scope != .all || isOneOwnerOnly ? first.owner : nil
        let limit = scope == .alone ? 1 : weight
        var sum = 0
        var (taken, left): ([Job], [Job]) = ([], [])
        for job in waiting {
            if sum < limit, job.retry.scope == scope, owner == nil || job.owner == owner, isDue(job) {
                sum += job.weight
                taken.append(job)
            } else {
                left.append(job)
            }
        }
        waiting = left
        return taken
    }
}
