import Tasks

/// The calls of one kind that one owner has in an engine.
final class OwnerQueue {
    let owner: Owner
    let kind: Job.Kind
    /// The jobs that wait, in the order in which they are taken.
    var jobs: [Job] = []
    /// Whether the owner's next turn must wait, because a turn is under way, or a write that failed pauses.
    var isHeld = false
    /// The monotonic time at which the pause of a write ends, in nanoseconds.
    var pauseEnd: UInt64 = 0
    /// The memory of all callers who are not answered.
    var bytes = 0

    init(of owner: Owner, _ kind: Job.Kind) {
        self.owner = owner
        self.kind = kind
    }

    /// Takes the jobs of one turn, none if the first job is not ready; see ``Turns``.
    fileprivate func takeTurn(if isReady: (Job) -> Bool) -> ArraySlice<Job> {
        guard kind != .list || !isHeld else { return [] }
        let most = kind == .list ? 1 : Job.mostOfShort
        var (count, weight) = (0, 0)
        while count < jobs.count, count == 0 || weight + jobs[count].weight <= most, isReady(jobs[count]) {
            weight += jobs[count].weight
            count += 1
        }
        guard count > 0 else { return [] }
        isHeld = kind != .find
        let taken = jobs[..<count]
        jobs = Array(jobs[count...])
        return taken
    }
}

/// The owners whose jobs wait for sessions of one role and may be taken, in the order of their turns.
///
/// A turn is one list, up to 16 reads of single tasks, short writes of up to 16 rows, or one long write. The next turn
/// of its owner comes after the turns of all other owners who wait when the turn ends. So a person with one job waits
/// for at most one turn of each other person and kind of job. The person waits for one long write, however many people have some: after
/// it, short writes have time of their own (``WaitingJobs/endLongWrite(begun:at:)``).
struct Turns {
    private(set) var owners: [OwnerQueue] = []

    mutating func append(_ queue: OwnerQueue) { owners.append(queue) }

    mutating func remove(_ queue: OwnerQueue) { owners.removeAll { $0 === queue } }

    /// The first write that is long, or short.
    func next(isLong: Bool) -> Job? { owners.first { $0.jobs[0].isLong == isLong }?.jobs[0] }

    /// Takes the jobs of one turn after the other, until they weigh enough together.
    mutating func take(upTo most: Int, if isReady: (Job) -> Bool) -> [Job] {
        var jobs: [Job] = []
        var weight = 0
        func hasTurn(_ queue: OwnerQueue) -> Bool {
            guard weight < most else { return false }
            let turn = queue.takeTurn(if: isReady)
            jobs += turn
            weight += turn.reduce(0) { $0 + $1.weight }
            return !turn.isEmpty
        }
        var (served, others): ([OwnerQueue], [OwnerQueue]) = ([], [])
        for queue in owners { if hasTurn(queue) { served.append(queue) } else { others.append(queue) } }
        var round = served
        while !round.isEmpty { round = round.filter { hasTurn($0) } }
        owners = others + served.filter { !$0.isHeld && !$0.jobs.isEmpty }
        return jobs
    }
}
