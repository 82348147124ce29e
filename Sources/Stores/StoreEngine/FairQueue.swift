import Tasks

/// The jobs of one kind that one owner has in an engine.
final class OwnerQueue {
    let owner: Owner
    let kind: Job.Kind
    /// The jobs that wait, in the order in which they are taken.
    var jobs: [Job] = []
    /// The session that writes for the owner, or reads a list for the owner.
    var session: Int?
    /// The memory of all callers who are not answered.
    var bytes = 0
    /// By how much the owner's turns were longer than a turn, less the turns that have passed since.
    var debt = 0

    init(of owner: Owner, _ kind: Job.Kind) {
        self.owner = owner
        self.kind = kind
    }
}

/// The jobs that wait for the sessions of one role, in queues by owner.
///
/// Owners take turns by what their jobs weigh (deficit round robin). In a turn an owner gets jobs of the weight of a
/// turn, or one job that weighs more; after such a job the owner lets as many turns pass as the job weighed too much.
/// So a person with one job waits for at most one turn of each other person.
struct FairQueue {
    /// The weight of a turn.
    let turn: Int
    /// The owners with jobs that wait, in the order of their turns.
    private(set) var owners: [OwnerQueue] = []

    init(turn: Int) { self.turn = turn }

    var isEmpty: Bool { owners.isEmpty }

    /// The number of callers who wait.
    var callers: Int { owners.reduce(0) { $1.jobs.reduce($0) { $0 + $1.callers } } }

    /// Lets a job wait; its owner gets the last turn, unless others of the owner's jobs wait.
    mutating func append(_ job: Job, to queue: OwnerQueue) {
        if queue.jobs.isEmpty {
            queue.debt = 0
            owners.append(queue)
        }
        queue.jobs.append(job)
    }

    /// Puts a job that was taken before all others of its owner, who gets the next turn.
    mutating func putBack(_ job: Job, to queue: OwnerQueue) {
        if !queue.jobs.isEmpty { owners.removeAll { $0 === queue } }
        queue.jobs.insert(job, at: 0)
        owners.insert(queue, at: 0)
    }

    /// Removes jobs wherever they wait.
    mutating func remove(_ isRemoved: (Job) -> Bool) -> [Job] {
        var removed: [Job] = []
        for queue in owners where queue.jobs.contains(where: isRemoved) {
            removed += queue.jobs.filter(isRemoved)
            queue.jobs.removeAll(where: isRemoved)
        }
        if !removed.isEmpty { owners.removeAll { $0.jobs.isEmpty } }
        return removed
    }

    /// Takes jobs that run together, up to a weight, by turns of the owners whose next job is ready.
    mutating func take(
        upTo limit: Int, for session: Int, if isReady: (Job, OwnerQueue) -> Bool
    ) -> [Job] {
        var taken: [Job] = []
        var weight = 0
        var hasMore = true
        while hasMore, weight < limit {
            hasMore = false
            // Those before `kept` keep their place, and those who had a turn come last.
            var (kept, next) = (0, 0)
            var served: [OwnerQueue] = []
            while next < owners.count, weight < limit {
                let queue = owners[next]
                next += 1
                let jobs = queue.takeTurn(turn, upTo: weight == 0 ? .max : limit - weight, if: isReady)
                guard let jobs else {
                    owners[kept] = queue
                    kept += 1
                    continue
                }
                hasMore = true
                if !jobs.isEmpty { queue.session = session }
                taken += jobs
                weight += jobs.reduce(0) { $0 + $1.weight }
                if !queue.jobs.isEmpty { served.append(queue) }
            }
            owners.removeSubrange(kept..<next)
            owners += served
        }
        return taken
    }

    /// Takes the first job of the owner at a place, whose turn this is.
    mutating func takeOne(at place: Int, for session: Int) -> Job {
        let queue = owners.remove(at: place)
        let passed = queue.debt
        for other in owners { other.debt = max(0, other.debt - passed) }
        let job = queue.jobs.removeFirst()
        queue.debt = max(0, job.charge - turn)
        queue.session = session
        if !queue.jobs.isEmpty { owners.append(queue) }
        return job
    }
}

extension OwnerQueue {
    /// Takes the jobs of one turn: none if the owner lets the turn pass, nil if the first job is not ready.
    fileprivate func takeTurn(
        _ turn: Int, upTo limit: Int, if isReady: (Job, OwnerQueue) -> Bool
    ) -> ArraySlice<Job>? {
        guard let first = jobs.first, first.weight <= limit, isReady(first, self) else { return nil }
        if debt > 0 {
            debt -= turn
            return []
        }
        var (count, weight, charge) = (1, first.weight, first.charge)
        while count < jobs.count, charge + jobs[count].charge <= turn, weight + jobs[count].weight <= limit,
            isReady(jobs[count], self)
        {
            weight += jobs[count].weight
            charge += jobs[count].charge
            count += 1
        }
        debt = max(0, charge - turn)
        let taken = jobs[..<count]
        jobs = Array(jobs[count...])
        return taken
    }
}

/// When long writes begin, which have a transaction of their own, so that short ones need not wait for many of them.
///
/// Where several sessions write, one of them does no long write. A single one leaves the short writes four times as
/// much time as the long ones take, if there are any.
struct LongWrites {
    private static let share: UInt64 = 4

    /// When the next long write may begin on a single session, if short ones came meanwhile.
    private(set) var next: UInt64 = 0
    /// Whether short writes came after the last long one.
    var isContended = false

    /// Whether the first long write begins now, by the places of the first short and long ones in the order of turns.
    func isNext(before short: Int?, _ long: Int, at now: UInt64, running: Int, of writers: Int) -> Bool {
        guard writers == 1 else { return running < writers - 1 && short.map { long < $0 } ?? true }
        return isContended ? now >= next : short == nil
    }

    mutating func begin() { isContended = false }

    mutating func end(at now: UInt64, after duration: UInt64) {
        next = now + duration * Self.share
    }
}

extension FairQueue {
    /// The places of the next long and short write that may be taken now; the long one's owner has had least.
    func nextWrites(at now: UInt64) -> (long: Int?, short: Int?) {
        var (long, short): (Int?, Int?) = (nil, nil)
        for (place, queue) in owners.enumerated() where queue.session == nil {
            guard let first = queue.jobs.first, first.retry.notBefore <= now else { continue }
            if !first.isLong {
                short = short ?? place
            } else if long.map({ queue.debt < owners[$0].debt }) ?? true {
                long = place
            }
        }
        return (long, short)
    }
}
