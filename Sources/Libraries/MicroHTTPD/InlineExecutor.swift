/// Runs a job where it is enqueued: a handler goes on on the thread that has what it waited for.
///
/// Without it every continuation would travel through Swift's thread pool, at 13 us a request.
final class InlineExecutor: TaskExecutor {
    static let shared = InlineExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
