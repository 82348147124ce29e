import Tasks

/// The jobs that wait for sessions, by owner, and the memory of their callers.
struct WaitingJobs {
    /// For each kind of job, the owners with callers who are not answered.
    private var queues = Job.Kind.allCases.map { _ in [Owner: OwnerQueue]() }
    private var reads = Turns()
    private var writes = Turns()
    /// Whether the last transaction had a long write: then short writes that wait are next.
    private var wasLong = true
    /// The monotonic time at which the next long write may begin.
    private var nextLongWrite: UInt64 = 0
    /// The owners with a write that failed, and is tried again after a pause.
    private var paused: [OwnerQueue] = []
    /// The lists that wait, which later callers may share.
    private var lists: [ListTasks: Job] = [:]
    private var room: CallRoom
    private var random = SystemRandomNumberGenerator()

    init(_ room: CallRoom) { self.room = room }

    /// The owners with jobs that wait for sessions of a role, also if their turn is under way.
    private func owners(_ role: SessionRole) -> [OwnerQueue] {
        Job.Kind.allCases.filter { $0.role == role }.flatMap { queues[$0.rawValue].values.filter { !$0.jobs.isEmpty } }
    }

    func callers(_ role: SessionRole) -> Int { owners(role).reduce(0) { $1.jobs.reduce($0) { $0 + $1.callers } } }

    func isEmpty(_ role: SessionRole) -> Bool { owners(role).isEmpty }

    /// Whether a session of a role may find something to take.
    func isReady(_ role: SessionRole) -> Bool { !(role == .reads ? reads : writes).owners.isEmpty }

    /// The monotonic time at which the first pause ends, of an owner or of long writes.
    func nextPauseEnd(at now: UInt64) -> UInt64 {
        let isLongPaused = nextLongWrite > now && writes.next(isLong: true) != nil
        return paused.reduce(isLongPaused ? nextLongWrite : .max) { min($0, $1.pauseEnd) }
    }

    // MARK: Callers

    /// Lets a job wait, or adds its caller to an equal list.
    ///
    /// Returns whether a session can take it now, or nil if there is no room. A job whose owner's turn is under way is
    /// taken by the session that ends the turn.
    mutating func add(_ job: Job) -> Bool? {
        let queue = queue(for: job)
        guard room.take(job.bytes, for: queue) else {
            giveBack(0, of: queue)
            return nil
        }
        if let list = job.list {
            if let equal = lists[list.query]?.list {
                equal.join(list)
                return false
            }
            lists[list.query] = job
        }
        queue.jobs.append(job)
        if queue.jobs.count == 1 { takesTurns(queue) }
        return !queue.isHeld
    }

    /// The queue of the job's owner, found or made with one search.
    private mutating func queue(for job: Job) -> OwnerQueue {
        func found(_ queue: inout OwnerQueue) -> OwnerQueue { queue }
        return found(&queues[job.kind.rawValue][job.owner, default: OwnerQueue(of: job.owner, job.kind)])
    }

    /// Removes the job of a caller who has left, if the job waits; returns the closure that answers the caller.
    mutating func withdraw(_ call: Int, of owner: Owner, _ kind: Job.Kind) -> (@Sendable (StoreError) -> Void)? {
        guard let queue = queues[kind.rawValue][owner] else { return nil }
        for job in queue.jobs {
            if let list = job.list {
                guard let answer = list.remove(call) else { continue }
                if list.count == 0 { remove(job) }
                giveBack(Job.callBytes, of: queue)
                return { answer(.failure($0)) }
            }
            guard job.call == call else { continue }
            remove(job)
            return job.refuse
        }
        return nil
    }

    /// Removes and returns waiting jobs; an owner whose first job stays, which has waited longest, keeps all.
    mutating func remove(where isRemoved: (Job) -> Bool) -> [Job] {
        var removed: [Job] = []
        for kind in queues.indices {
            for queue in queues[kind].values where queue.jobs.first.map(isRemoved) ?? false {
                removed += queue.jobs.filter(isRemoved)
            }
        }
        for job in removed { remove(job) }
        return removed
    }

    private mutating func remove(_ job: Job) {
        guard let queue = queues[job.kind.rawValue][job.owner] else { return }
        queue.jobs.removeAll { $0 === job }
        if queue.jobs.isEmpty { job.kind.role == .reads ? reads.remove(queue) : writes.remove(queue) }
        noLongerShared(job)
        giveBack(job.bytes, of: queue)
    }

    private mutating func noLongerShared(_ job: Job) {
        if let query = job.list?.query, lists[query] === job { lists[query] = nil }
    }

    private mutating func giveBack(_ bytes: Int, of queue: OwnerQueue) {
        room.giveBack(bytes, of: queue)
        if queue.bytes == 0 { queues[queue.kind.rawValue][queue.owner] = nil }
    }

    // MARK: Turns

    private mutating func takesTurns(_ queue: OwnerQueue) {
        guard !queue.isHeld, !queue.jobs.isEmpty else { return }
        if queue.kind.role == .reads { reads.append(queue) } else { writes.append(queue) }
    }

    mutating func takeReads(upTo most: Int) -> [Job] {
        let jobs = reads.take(upTo: most) { _ in true }
        for job in jobs { noLongerShared(job) }
        return jobs
    }

    /// Takes the writes of the next transaction: short writes or one long write, in turns if both wait.
    mutating func takeWrites(at now: UInt64, isLongAllowed: Bool, sharesTransactions: Bool) -> [Job] {
        let long = isLongAllowed && now >= nextLongWrite ? writes.next(isLong: true) : nil
        let short = writes.next(isLong: false)
        guard let first = wasLong ? short ?? long : long ?? short else { return [] }
        wasLong = first.isLong
        guard first.sharesTransactions else { return writes.take(upTo: 1) { $0 === first } }
        return writes.take(upTo: Job.mostWeight) { job in
            job.sharesTransactions && (sharesTransactions || job.owner == first.owner)
        }
    }

    /// Ends the turns of jobs: gives the room of answered callers back, and puts the jobs to repeat first in their
    /// owners' queues; returns the number of jobs to repeat.
    mutating func endTurns(of verdicts: [(job: Job, verdict: Verdict)], at now: UInt64) -> Int {
        var again = 0
        for (job, verdict) in verdicts.reversed() {
            guard let queue = queues[job.kind.rawValue][job.owner] else { continue }
            guard case .again(let next) = verdict else {
                giveBack(job.bytes, of: queue)
                continue
            }
            again += 1
            queue.jobs.insert(next, at: 0)
            if queue.jobs.count == 1 { takesTurns(queue) }
            // A read is repeated at once, within the deadline of its request.
            guard next.kind == .write, let pause = next.retry.pause(using: &random) else { continue }
            queue.pauseEnd = max(queue.pauseEnd, now + pause)
        }
        for (job, _) in verdicts {
            guard let queue = queues[job.kind.rawValue][job.owner], queue.isHeld else { continue }
            if queue.pauseEnd <= now {
                endTurn(of: queue)
            } else if !paused.contains(where: { $0 === queue }) {
                paused.append(queue)
            }
        }
        return again
    }

    /// Gives short writes that waited for a long one four times the time that it took, before the next long one.
    ///
    /// Otherwise a person who sends one write after the other would wait each time: none waits when a turn ends.
    mutating func endLongWrite(begun: UInt64, at now: UInt64) {
        if writes.next(isLong: false) != nil { nextLongWrite = now + 4 * (now - begun) }
    }

    private mutating func endTurn(of queue: OwnerQueue) {
        queue.isHeld = false
        takesTurns(queue)
    }

    mutating func endPauses(at now: UInt64) {
        guard !paused.isEmpty else { return }
        for queue in paused where queue.pauseEnd <= now { endTurn(of: queue) }
        paused.removeAll { $0.pauseEnd <= now }
    }
}

/// The memory of all calls that are not answered: the one bound of an engine.
struct CallRoom {
    private let most: Int
    private var used = 0

    init(_ most: Int) { self.most = most }

    /// Takes room for a call, if there is some: an owner may hold a third of the free room with each kind of job.
    ///
    /// So one owner gets at most a quarter of all room with a kind, and some is left for owners who hold nothing.
    mutating func take(_ bytes: Int, for queue: OwnerQueue) -> Bool {
        let free = most - used - bytes
        guard free >= 0, queue.bytes == 0 || queue.bytes + bytes <= free / 3 else { return false }
        used += bytes
        queue.bytes += bytes
        return true
    }

    mutating func giveBack(_ bytes: Int, of queue: OwnerQueue) {
        used -= bytes
        queue.bytes -= bytes
    }
}
