import Basics
import HTTP
import Support
import Synchronization
import Tasks
import Testing
import Tokens

@testable import TaskAPI

@Suite("A stream of changes misses nothing, and asks no more than it must, when something goes wrong")
struct StreamTroubleTests {
    private let store: TroubledStore
    private let clock = ManualClock()
    private let tested: TestedAPI
    private let verifier: ChangingVerifier
    private let answers = AnswerMemory()
    private let alice = Owner(NameVerifier.alice)

    init() {
        let (clock, answers) = (clock, answers)
        let store = TroubledStore(answers)
        self.store = store
        let verifier = ChangingVerifier(clock)
        self.verifier = verifier
        tested = TestedAPI(.inProcess) { configuration in
            (configuration.store, configuration.time, configuration.answers) = (store, clock, answers)
            configuration.verifier = verifier
        }
    }

    private var streams: ChangeStreams { tested.api.streams }

    private func asked(_ method: String = "GET") async throws -> Response {
        try await tested.send(method, "/api/tasks/changes", as: "alice", [("Accept", "text/event-stream")])
    }

    private func opened() async throws -> ResponseStream {
        let stream = try #require(try await asked().stream)
        #expect(stream.read().hasPrefix("event: changes\n"))
        return stream
    }

    private func add(_ text: String) async throws { _ = try await store.add(text, of: alice) }

    private func awaitEvent(with text: String, on stream: ResponseStream) async {
        await eventually("an event has \(text)") { stream.read().contains(text) }
    }

    @Test func `After a read that failed it asks again a second later`() async throws {
        let stream = try await opened()
        store.change { $0.failures = 1 }
        try await add("late")
        await eventually("the read has failed") { store.state.failures == 0 }
        await eventually("an event has it") {
            streams.check(comparing: false)
            return stream.read().contains("late")
        }
    }

    @Test func `A number that the database lacks is asked for once, and the next change comes`() async throws {
        let stream = try await opened()
        streams.tell(alice, 100)
        await eventually("it has asked") { store.state.reads == 2 }
        // A stream in a loop reads more often than there is something to read.
        for number in 0..<50 {
            try await add("next \(number),")
            await awaitEvent(with: "next \(number),", on: stream)
        }
        let additions = store.state.additions
        #expect(store.state.reads <= 2 + additions, "it asks in a loop")
    }

    @Test func `Numbers may be told in another order than they were taken`() async throws {
        let stream = try await opened()
        store.change { $0.isHeld = true }
        try await add("first")
        await eventually("it has read") { store.state.reads == 2 }
        try await add("second")
        streams.tell(alice, 1)
        store.change { $0.isHeld = false }
        await awaitEvent(with: "second", on: stream)
    }

    @Test func `A list that was put back is another one, and ends it`() async throws {
        for text in ["first", "second"] { try await add(text) }
        let stream = try await opened()
        store.putBack()
        try await add("other")
        streams.check(comparing: true)
        await awaitEvent(with: "changes.forgotten", on: stream)
        #expect(stream.isOver)
    }

    @Test func `The database is asked one question at a time`() async throws {
        let stream = try await opened()
        store.change { $0.isHeld = true }
        for _ in 0..<3 { streams.check(comparing: true) }
        await eventually("it is asked") { store.state.questions > 0 }
        store.change { $0.isHeld = false }
        await eventually("it is asked again") {
            streams.check(comparing: true)
            return store.state.questions > 1
        }
        #expect(store.state.mostQuestionsAtOnce == 1)
        withExtendedLifetime(stream) {}
    }

    @Test func `A long event takes memory until it is sent`() async throws {
        for _ in 0..<4 { try await add(String(repeating: "x", count: TaskText.longest)) }
        let stream = try #require(try await asked().stream)
        #expect(answers.statistics.held > AnswerMemory.unplaced)
        #expect(stream.read().contains("xxx"))
        #expect(answers.statistics.held == 0)
    }

    @Test func `HEAD opens none`() async throws {
        let answer = try await asked("HEAD")
        #expect(answer.status == 200 && answer.stream == nil && streams.statistics.open == 0)
    }

    @Test func `It ends in the second in which its token counts no more`() async throws {
        let stream = try await opened()
        clock.advance(seconds: Double(ChangingVerifier.expiry - clock.wallMilliseconds / 1000 - 1))
        streams.check(comparing: false)
        #expect(stream.read().isEmpty && !stream.isOver)
        clock.advance(seconds: 1)
        streams.check(comparing: false)
        #expect(stream.read().contains("token.expired") && stream.isOver)
    }

    @Test func `It is judged again if what tokens are judged by has changed, and not otherwise (V-110)`() async throws {
        let stream = try await opened()
        streams.check(comparing: false)
        let judged = verifier.state.judged
        for _ in 0..<3 { streams.check(comparing: false) }
        #expect(verifier.state.judged == judged)
        verifier.change { ($0.generation, $0.required.write) = (1, "tasks.write") }
        streams.check(comparing: false)
        #expect(verifier.state.judged == judged + 1 && stream.read().isEmpty)
        verifier.change { ($0.generation, $0.required.read) = (2, "tasks.read") }
        streams.check(comparing: false)
        #expect(stream.read().contains(#"{"reason":"token.scope"}"#) && stream.isOver)
    }
}

/// A store in memory whose reads of changes a test counts, holds back and lets fail.
private final class TroubledStore: CommandStore {
    struct State {
        var inner = MemoryTaskStore()
        /// The reads of changes until now, and how many of the next ones fail.
        var (reads, failures) = (0, 0)
        var additions = 0
        /// The questions for change numbers that have begun, and of these at once.
        var (questions, questionsNow, mostQuestionsAtOnce) = (0, 0, 0)
        /// Whether answers are held back.
        var isHeld = false
    }

    let commits = CommitListeners()
    private let answers: AnswerMemory
    private let guarded = Mutex(State())

    init(_ answers: AnswerMemory) {
        self.answers = answers
        putBack()
    }

    var state: State { guarded.withLock { $0 } }

    func change(_ body: (inout State) -> Void) { guarded.withLock { body(&$0) } }

    /// Puts an empty list in the place of every list.
    func putBack() {
        let inner = MemoryTaskStore(answers: answers)
        inner.commits.add { [commits] changes in commits.tell(of: changes) }
        change { $0.inner = inner }
    }

    private func released() async { await eventually("it is released") { !state.isHeld } }

    func read(_ query: ListChanges, _ answer: @escaping StoreAnswer<ChangesOutcome>) -> Cancellation {
        let fails = guarded.withLock { state in
            state.reads += 1
            defer { if state.failures > 0 { state.failures -= 1 } }
            return state.failures > 0
        }
        return state.inner.read(query) { [self] outcome in
            guard !fails else { return answer(.failure(.unavailable(reason: "test"))) }
            guard state.isHeld else { return answer(outcome) }
            Task {
                await released()
                answer(outcome)
            }
        }
    }

    func changeNumbers(of owners: [Owner]) async throws(StoreError) -> [Owner: Int64] {
        change { state in
            state.questions += 1
            state.questionsNow += 1
            state.mostQuestionsAtOnce = max(state.mostQuestionsAtOnce, state.questionsNow)
        }
        await released()
        change { $0.questionsNow -= 1 }
        return try await state.inner.changeNumbers(of: owners)
    }

    func run<Command: TaskCommand>(
        _ command: Command, _ answer: @escaping StoreAnswer<Command.Outcome>
    ) -> Cancellation {
        change { $0.additions += 1 }
        return state.inner.run(command, answer)
    }

    func read(_ query: ListTasks, _ answer: @escaping StoreAnswer<TaskList>) -> Cancellation {
        state.inner.read(query, answer)
    }

    func read(_ query: FindTask, _ answer: @escaping StoreAnswer<TaskItem?>) -> Cancellation {
        state.inner.read(query, answer)
    }

    func check() async throws(StoreError) { try await state.inner.check() }
    func close() { state.inner.close() }
}

/// Takes every token for Alice's up to a second, and requires the scopes that a test names.
private final class ChangingVerifier: TokenVerifier {
    struct State {
        var generation: UInt64 = 0
        var required = RequiredScopes()
        /// How many tokens were judged.
        var judged = 0
    }

    static let expiry: Int64 = 1_700_003_600

    private let clock: ManualClock
    private let guarded = Mutex(State())

    init(_ clock: ManualClock) { self.clock = clock }

    var state: State { guarded.withLock { $0 } }
    var generation: UInt64 { state.generation }

    func change(_ body: (inout State) -> Void) { guarded.withLock { body(&$0) } }

    func beginVerifying(_ token: String) throws(TokenRefusal) -> Verification {
        change { $0.judged += 1 }
        guard clock.wallMilliseconds / 1000 < Self.expiry else { throw .expired }
        return .verified(
            Principal(
                owner: NameVerifier.alice, name: nil, policy: nil, scopes: [], expiry: Self.expiry, issued: 0,
                required: state.required))
    }
}
