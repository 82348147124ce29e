import Tasks

@testable import StoreEngine

/// Work that is only known by its name.
final class NamedWork: JobWork {
    let name: String

    init(_ name: String) { self.name = name }
}

extension Job {
    var name: String { (work as? NamedWork)?.name ?? "" }
}

/// The state of an engine whose sessions are made up: a test says what they take and when, and what becomes of it.
final class MadeUpEngine {
    var state: EngineState
    var now: UInt64 = 0
    /// The jobs that each session runs.
    private var underWay: [Int: [Job]] = [:]
    /// The session to wake after the last jobs were taken.
    private(set) var woken: Int?
    private(set) var events: [StoreEvent] = []

    init(
        readers: Int = 1, writers: Int = 1, areOpen: Bool = true, _ change: (inout EngineOptions) -> Void = { _ in }
    ) {
        var options = EngineOptions(
            readers: Array(repeating: "reader", count: readers), writers: Array(repeating: "writer", count: writers))
        options.mostReads = 64
        change(&options)
        state = EngineState(options)
        guard areOpen else { return }
        for number in 0..<readers + writers { open(number) }
    }

    /// Does something with the state; a macro could not change a part of what it compares.
    func with<Result>(_ body: (inout EngineState) throws -> Result) rethrows -> Result { try body(&state) }

    func open(_ number: Int) { events += [state.open(number)].compactMap(\.self) }

    func lose(_ number: Int, _ reason: String = "lost") {
        underWay[number] = nil
        events += [state.lose(number, SessionLoss(reason))].compactMap(\.self)
    }

    /// Lets a job wait; returns the thread to wake.
    @discardableResult
    func submit(
        _ name: String, of owner: String, _ kind: Job.Kind = .write, rows: Int = 1, payload: Int = 0, call: Int = 0
    ) throws(StoreError) -> Int? {
        let work = NamedWork(name)
        let job = Job(
            call: call, of: Owner(owner), kind, weight: rows, payload: payload, since: now, work
        ) { _ in }
        return try state.submit(job).get()
    }

    /// Lets a number of short writes wait.
    func submit(_ count: Int, of owner: String, _ kind: Job.Kind = .write) throws(StoreError) {
        for _ in 0..<count { try submit(owner, of: owner, kind) }
    }

    /// The names of the jobs that a session takes.
    func take(_ number: Int) -> [String] {
        guard case .jobs(let jobs, let woken) = state.take(for: number, at: now, until: .max) else { return [] }
        underWay[number] = jobs
        self.woken = woken
        return jobs.map(\.name)
    }

    /// Until when a session sleeps that finds nothing to take.
    func sleepEnd(_ number: Int) -> UInt64? {
        if case .nothing(let end) = state.take(for: number, at: now, until: .max) { end } else { nil }
    }

    /// Ends what a session runs: all of it is answered, or nothing was kept and some of it is tried again.
    func finish(
        _ number: Int, hasWritten: Bool = true, failing failure: BatchFailure? = nil, report: ReportedFailure? = nil
    ) {
        let jobs = underWay.removeValue(forKey: number) ?? []
        var result = BatchResult(jobs.map { ($0, .answer {}) })
        if jobs.first?.kind == .write { result.transaction = .committed }
        if hasWritten { result.note(nil) }
        if let failure { result = BatchResult(failed: jobs, failure, .broken(reason: "failed"), report) }
        events += state.finish(number, result, at: now)
    }

    /// Takes and ends what one session runs next, which takes some time.
    func run(_ number: Int, for duration: UInt64 = 1) -> [String] {
        let names = take(number)
        now += duration
        if !names.isEmpty { finish(number) }
        return names
    }
}
