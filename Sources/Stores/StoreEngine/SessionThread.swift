import Basics
import Platform
import Tasks

/// What the thread of a session does: it opens the session, takes what waits, and blocks until the database has answered.
struct SessionThread {
    let number: Int
    let engine: StoreEngine
    let open: StoreEngine.Opening
    private let time = SystemTime()

    init(number: Int, engine: StoreEngine, open: @escaping StoreEngine.Opening) {
        self.number = number
        self.engine = engine
        self.open = open
    }

    /// Works until the line is closed, and everything that was accepted is answered.
    func run() {
        // The attempts to open a session that failed since the last that did not.
        var failures = 0
        var nextAttempt: UInt64 = 0
        while engine.awaitAttempt(number, at: nextAttempt, isFirst: failures == 0) {
            do throws(SessionLoss) {
                let session = try engine.opening(number, open)
                (failures, nextAttempt) = (0, 0)
                engine.noteOpened(number)
                if !work(on: session) { return }
            } catch {
                failures += 1
                nextAttempt = time.monotonicNanoseconds + RetryState.reconnectPause(afterFailures: failures)
                engine.noteLost(number, error)
                engine.refuseHopeless()
            }
        }
    }

    /// Runs jobs on a session; returns whether the session was lost, so that another one is needed.
    private func work(on session: any StoreSession) -> Bool {
        while true {
            do throws(SessionLoss) {
                let limit = try session.maintain(at: time.monotonicNanoseconds)
                guard let jobs = engine.take(for: number, by: session, until: limit) else {
                    session.end()
                    return false
                }
                guard !jobs.isEmpty else { continue }
                let start = time.monotonicNanoseconds
                for job in jobs { engine.times.waits.add(start - job.since) }
                let result = session.run(jobs)
                if result.isCommitted == true { engine.times.commits.add(time.monotonicNanoseconds - start) }
                engine.finish(number, result)
                if result.loss != nil { return true }
            } catch {
                engine.noteLost(number, error)
                return true
            }
        }
    }
}
