import CMicroHTTPD
import HTTP
import Synchronization

// A handler that has to wait: its task runs on the loop of the connection, which is suspended while the task cannot
// continue.
extension ClientConnection {
    /// Starts the task on this thread; the task may be done at the return.
    func startHandler(_ decide: @escaping @Sendable () async -> Decision, _ generation: UInt64) {
        handlerTask = Task.immediate(executorPreference: self) { [self] in
            let decision = await decide()
            _ = apply(.handlerFinished(decision, generation: generation))
        }
    }

    /// Takes the next job or the decision of the task, or suspends the connection until there is one.
    func resumeHandler() -> RequestLifecycle.Action {
        // The lock is held, because a stop sets `refusesToWait` before it ends the suspensions that it finds.
        lifecycle.withLock { apply(.handlerPaused(waitingTerms), to: &$0) }
    }

    private var waitingTerms: RequestLifecycle.WaitingTerms {
        RequestLifecycle.WaitingTerms(
            deadline: min(coarseNanoseconds() &+ core.times.suspension, requestEnd),
            refusesToWait: core.refusesToWait.load(ordering: .sequentiallyConsistent),
            isFull: core.suspended.load(ordering: .relaxed) >= core.limits.suspensions)
    }

    /// Takes the connection out of the loop; the lock of the lifecycle must be held.
    func suspend() {
        core.suspended.add(1, ordering: .relaxed)
        unsafe MHD_suspend_connection(handle)
    }

    /// Returns the connection to the loop; the lock of the lifecycle must be held.
    func resume() {
        core.suspended.subtract(1, ordering: .relaxed)
        unsafe MHD_resume_connection(handle)
    }

    /// Sends a fault in place of a handler's answer, after its deadline; returns false if no handler was waiting.
    func expireHandler(at now: UInt64, _ fault: HTTPFault) -> Bool { ends(.handlerExpired(now: now, fault)) }

    /// Ends the wait for a handler whose client has left; returns false if no handler was waiting.
    func abandonHandler() -> Bool { ends(.peerDisconnected) }

    /// Cancels the task of the handler, which still runs to its end, but waits for nothing that has not begun.
    private func ends(_ event: RequestLifecycle.Event) -> Bool {
        let task = lifecycle.withLock { lifecycle -> Task<Void, Never>? in
            guard case .resume = apply(event, to: &lifecycle) else { return nil }
            // The loop begins no other handler before it has had the lock.
            return handlerTask
        }
        task?.cancel()
        return task != nil
    }
}

/// The task of a handler continues where it began, on the loop of its connection.
///
/// So the loops share the work of making responses, and each thread frees the memory that it allocated. A thread of
/// the store only reports its result.
extension ClientConnection: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if case .runJob = apply(.jobEnqueued(job)) { run(job) }
    }

    func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
