import Basics
import HTTP
import JSON
import Platform
import Tasks
import Tokens

/// The handlers of the routes that use the store, each for the owner of a token.
///
/// A handler reads the whole request, or refuses it, before it returns. Then only the store, a place or gzip is waited for.
final class TaskHandlers: Sendable {
    let store: any TaskStore
    let time: any TimeSource
    let answers: AnswerMemory
    let streams: ChangeStreams
    private let patience: Duration
    private let taskLimit: Int
    /// Where the tasks are, as clients see it.
    private let path: String
    /// Where all of them are as a file.
    let exportPath: String

    init(_ configuration: TaskAPIConfiguration, _ streams: ChangeStreams) {
        self.streams = streams
        store = configuration.store
        time = configuration.time
        answers = configuration.answers
        patience = configuration.answerPatience
        taskLimit = configuration.taskLimit
        path = "\(configuration.base)/api/tasks"
        exportPath = "\(configuration.base)/api/me/export"
    }

    /// `GET /api/tasks`: at once if the whole list is requested and the store has it in memory.
    func list(_ request: APIRequest, _ owner: Owner) throws(APIFailure) -> HandlerResult {
        let head = request.head
        let names = head.names
        if head.target.query.isEmpty, let list = store.cachedList(of: owner, names) {
            return representation(of: list, .all).answer(to: head)
        }
        let query = head.target.query.isEmpty ? .all : try TaskQuery(head.target)
        return storing(withPlaceOf: owner) { [store] place, answer in
            store.read(ListTasks(owner: owner, selection: query, at: place, names: names), answer)
        } then: { [self] list in
            representation(of: list, query).answer(to: head)
        }
    }

    /// The list that a query selects, as an answer.
    func representation(of list: TaskList, _ query: TaskQuery) -> Representation {
        var headers = Self.headers(tag: list.entityTag)
        if let next = list.next {
            headers.append("Link", link(toTasksAfter: next, query))
        }
        return Representation(
            bytes: list.json, entityTag: list.entityTag, headers: headers, gzip: list.gzip, place: list.place)
    }

    /// The address of the tasks after an id, as the value of `Link` (RFC 8288).
    private func link(toTasksAfter id: Int64, _ query: TaskQuery = .all) -> String {
        "<\(path)?\(query.next(after: id))>; rel=\"next\""
    }

    /// `GET /api/tasks/{id}`.
    func find(_ request: APIRequest, _ owner: Owner) throws(APIFailure) -> HandlerResult {
        guard let id = request.match.taskIdentifier else { throw .state(.noSuchTask) }
        let head = request.head
        return Self.storing { [store] in
            store.read(FindTask(owner: owner, id: id), $0)
        } then: { task throws(APIFailure) in
            guard let task else { throw .state(.noSuchTask) }
            let tag = task.entityTag(head.names)
            if head.headers.ifNoneMatch(tag) { return .ready(Response(304, headers: Self.headers(tag: tag))) }
            return .ready(Self.answer(200, task, to: head))
        }
    }

    /// `POST /api/tasks`.
    func add(_ request: APIRequest, _ owner: Owner, body: [UInt8]) throws(APIFailure) -> HandlerResult {
        try add(nil, request, owner, body: body)
    }

    /// `POST /api/tasks/{owner}/{text}`.
    func addTextOfPath(_ request: APIRequest, _ owner: Owner, body: [UInt8]) throws(APIFailure) -> HandlerResult {
        try add(try TaskText(given: request.match["text"]), request, owner, body: body)
    }

    private func add(
        _ given: TaskText?, _ request: APIRequest, _ owner: Owner, body: [UInt8]
    ) throws(APIFailure) -> HandlerResult {
        let head = request.head
        let queried = TaskInput(query: head.target.query)
        var text = given
        if text == nil { text = try queried.text() }
        let input = try TaskInput(body: body, head: head)
        if text == nil { text = try input.text() }
        guard let text else { throw .input(.missingText(looksLikeJSON: input.looksLikeJSON)) }
        let completed = input.completed()
        let details = try input.details().applied(to: TaskDetails())
        if details[.repeat] != nil {
            guard details[.due] != nil else { throw .input(.contradiction(.repeatWithoutDue)) }
            guard !completed else { throw .input(.contradiction(.repeatOfFinished)) }
        }
        let key = try IdempotencyKey(of: head, text: text, completed: completed, details)
        let command = AddTask(
            owner: owner, text: text, completed: completed, details: details, time: time.wallMilliseconds, key: key,
            limit: taskLimit)
        return storing(command, for: request, store.perform) { [self] outcome throws(APIFailure) in
            try answer(outcome, to: head)
        }
    }

    private func answer(_ outcome: AddOutcome, to head: RequestHead) throws(APIFailure) -> Response {
        switch outcome {
        case .added(let task), .repeated(let task):
            var answer = Self.answer(201, task, to: head)
            answer.headers.append("Location", "\(path)/\(task.id)")
            return answer
        case .keyReused: throw .input(.idempotencyKeyReused)
        case .full: throw .state(.tooManyTasks(limit: taskLimit))
        }
    }

    /// `PATCH` (what is not named stays) and `PUT` of a task: text and `completed` are replaced.
    ///
    /// `PUT` keeps the details that it does not name, so that a client that does not know them removes none.
    func change(_ request: APIRequest, _ owner: Owner, body: [UInt8]) throws(APIFailure) -> HandlerResult {
        guard let id = request.match.taskIdentifier else { throw .state(.noSuchTask) }
        let head = request.head
        let input = try TaskInput(body: body, head: head)
        var change = try input.change(at: time.wallMilliseconds)
        if head.method == .put {
            guard change.text != nil else { throw .input(.missingText(looksLikeJSON: input.looksLikeJSON)) }
            change.completed = change.completed ?? false
        } else if change == TaskChange(), input.looksLikeJSON {
            throw .input(.missingText(looksLikeJSON: true))
        }
        let expected = head.expectedRevisions(of: id)
        let isConditional = head.headers.contains("If-Match")
        let command = ChangeTask(
            owner: owner, id: id, change: change, expected: expected, time: time.wallMilliseconds, limit: taskLimit)
        return storing(command, for: request, store.perform) { [self] outcome throws(APIFailure) in
            switch outcome {
            case .changed(let task): return Self.answer(200, task, to: head)
            case .completed(let task, let next):
                var answer = Self.answer(200, task, to: head)
                answer.headers.append("Link", "<\(path)/\(next)>; rel=\"next\"")
                return answer
            case .missing where isConditional: throw .state(.changedMeanwhile)
            case .missing: throw .state(.noSuchTask)
            case .conflict: throw .state(.changedMeanwhile)
            case .contradiction(let value): throw .input(.contradiction(value))
            case .full: throw .state(.tooManyTasks(limit: taskLimit))
            }
        }
    }

    /// `DELETE /api/tasks/{id}`: 204 also when there is none, even with a condition, since that is the state wanted
    /// (RFC 9110 section 13.1.1).
    func remove(_ request: APIRequest, _ owner: Owner) throws(APIFailure) -> HandlerResult {
        try request.head.target.refuseArguments()
        guard let id = request.match.taskIdentifier else { return .ready(Response(204)) }
        let expected = request.head.expectedRevisions(of: id)
        let command = RemoveTask(owner: owner, id: id, expected: expected, time: time.wallMilliseconds)
        return storing(command, for: request, store.perform) { outcome throws(APIFailure) in
            switch outcome {
            case .removed, .missing: return Response(204)
            case .conflict: throw .state(.changedMeanwhile)
            }
        }
    }

    /// `DELETE /api/tasks`, also with an owner in the path: all completed tasks with `?completed=true`, or the tasks with
    /// the text of query or body; without either, nothing.
    ///
    /// A request that selects in two ways is refused, because it might mean those tasks that both select.
    func removeAll(_ request: APIRequest, _ owner: Owner, body: [UInt8]) throws(APIFailure) -> HandlerResult {
        let target = request.head.target
        let takesCompleted = request.match.route == .tasks
        try target.refuseArguments(exceptText: true, exceptCompleted: takesCompleted)
        if takesCompleted, let completed = try TaskQuery(target).completed {
            guard body.isEmpty, !target.query.contains(where: { TaskInput.isTextName($0.name) }) else {
                throw .input(.unclearDeletion)
            }
            return try removeCompleted(completed, request, of: owner)
        }
        let texts = try TaskInput(query: target.query).texts() + TaskInput(body: body, head: request.head).texts()
        guard let text = texts.first else { return .ready(Response(204)) }
        guard texts.allSatisfy({ $0.value.isSame(as: text.value) }) else { throw .input(.unclearDeletion) }
        return try removeAll(with: text, request, of: owner)
    }

    private func removeCompleted(
        _ isWanted: Bool, _ request: APIRequest, of owner: Owner
    ) throws(APIFailure) -> HandlerResult {
        try request.head.requireNoCondition()
        guard isWanted else { return .ready(Self.answer(deleted: 0)) }
        let command = RemoveTasks(owner: owner, .completed, time: time.wallMilliseconds)
        return storing(command, for: request, store.perform) { Self.answer(deleted: $0) }
    }

    private static func answer(deleted count: Int) -> Response {
        json(JSONValue.object(["deleted": .integer(Int64(count))]).serialized())
    }

    /// `DELETE /api/tasks/{owner}/{text}`: the body is ignored.
    func removeTextOfPath(_ request: APIRequest, _ owner: Owner, body: [UInt8]) throws(APIFailure) -> HandlerResult {
        try request.head.target.refuseArguments()
        return try removeAll(with: try TaskText(given: request.match["text"]), request, of: owner)
    }

    private func removeAll(
        with text: TaskText, _ request: APIRequest, of owner: Owner
    ) throws(APIFailure) -> HandlerResult {
        try request.head.requireNoCondition()
        let command = RemoveTasks(owner: owner, .withText(text), time: time.wallMilliseconds)
        return storing(command, for: request, store.perform) { _ in Response(204) }
    }

    private static func answer(_ status: Status, _ task: TaskItem, to head: RequestHead) -> Response {
        let names = head.names
        return Response(status, headers: headers(tag: task.entityTag(names)), body: task.json(names))
    }

    private static func headers(tag: String) -> FieldLines {
        var headers = FieldLines(reserving: 384)
        headers.append(jsonType)
        headers.append("ETag", tag)
        return headers
    }

    static let jsonType: FieldLines = ["Content-Type": "application/json; charset=utf-8"]

    /// Gives a command to the store, with the time at which the token of the request was issued, and answers.
    func storing<Command: TaskCommand, Outcome: Sendable>(
        _ command: Command, for request: APIRequest,
        _ perform: @escaping @Sendable (Command, @escaping StoreAnswer<Outcome>) -> Cancellation,
        then answer: @escaping @Sendable (Outcome) throws(APIFailure) -> Response
    ) -> HandlerResult {
        var command = command
        command.issued = request.issued
        return Self.calling({ [command] in perform(command, $0) }) { result throws(APIFailure) in
            .ready(try answer(try Self.outcome(result)))
        }
    }

    /// Begins a call of the store, and goes on with its outcome.
    static func storing<Outcome: Sendable>(
        _ call: @escaping @Sendable (@escaping StoreAnswer<Outcome>) -> Cancellation,
        then rest: @escaping @Sendable (Outcome) throws(APIFailure) -> HandlerResult
    ) -> HandlerResult {
        calling(call) { result throws(APIFailure) in try rest(try outcome(result)) }
    }

    private static func calling<Outcome: Sendable>(
        _ call: @escaping @Sendable (@escaping StoreAnswer<Outcome>) -> Cancellation,
        then rest: @escaping @Sendable (Result<Outcome, StoreError>) throws(APIFailure) -> HandlerResult
    ) -> HandlerResult {
        .calling { resume in
            call { result in resume { () throws(APIFailure) in try rest(result) } }
        }
    }

    private static func outcome<Outcome>(_ result: Result<Outcome, StoreError>) throws(APIFailure) -> Outcome {
        try rethrowing(as: { APIFailure.state(.store($0)) }) { () throws(StoreError) in try result.get() }
    }

    /// Begins a call whose answer may be long; if there is no place for it, waits for one, and calls again with it.
    func storing<Outcome: Sendable>(
        withPlaceOf owner: Owner,
        _ call: @escaping @Sendable (AnswerPlace?, @escaping StoreAnswer<Outcome>) -> Cancellation,
        then rest: @escaping @Sendable (Outcome) throws(APIFailure) -> HandlerResult
    ) -> HandlerResult {
        Self.calling({ call(nil, $0) }) { [self] result throws(APIFailure) in
            guard case .failure(.noRoomForAnswer) = result else { return try rest(try Self.outcome(result)) }
            return .pending { [self] () async throws(APIFailure) in
                let place = try await place(of: owner)
                return Self.storing({ call(place, $0) }, then: rest)
            }
        }
    }

    /// A place for a long answer to this owner, which is waited for if there is none.
    func place(of owner: Owner) async throws(APIFailure) -> AnswerPlace {
        let wait = TimedWait<AnswerPlace>()
        let caller = ObjectIdentifier(wait)
        let place = await wait.suspend(for: patience) {
            answers.enqueue(caller, for: owner) { wait.resume($0) }
        }
        answers.leave(caller)
        guard let place else {
            answers.countRefusal()
            throw .state(.store(.noRoomForAnswer))
        }
        return place
    }
}

extension TaskQuery {
    init(_ target: RequestTarget) throws(APIFailure) {
        self.init()
        if let value = try target.single("completed") {
            guard value == "true" || value == "false" else {
                throw .input(.argument(name: "completed", expected: "true or false"))
            }
            completed = value == "true"
        }
        limit = try Self.integer("limit", in: 1...1000, of: target).map { Int($0) }
        after = try Self.integer("after", in: 0...Int64.max, of: target)
    }

    static func integer(
        _ name: String, in range: ClosedRange<Int64>, of target: RequestTarget
    ) throws(APIFailure) -> Int64? {
        guard let value = try target.single(name) else { return nil }
        guard let number = Int64(decimal: value), range.contains(number) else {
            let expected = range.upperBound == .max ? "the id of a task" : "a number from 1 to \(range.upperBound)"
            throw .input(.argument(name: name, expected: expected))
        }
        return number
    }

    /// The query of the page after this one; without a `limit`, as many tasks as one answer may hold.
    fileprivate func next(after id: Int64) -> String {
        let filter = completed.map { "completed=\($0)&" } ?? ""
        let size = limit.map { "limit=\($0)&" } ?? ""
        return "\(filter)\(size)after=\(id)"
    }
}

extension IdempotencyKey {
    /// The key of a request, if it has one.
    fileprivate init?(
        of head: RequestHead, text: TaskText, completed: Bool, _ details: TaskDetails
    ) throws(APIFailure) {
        guard let value = head.headers["Idempotency-Key"] else { return nil }
        // Spaces are for the quoted strings of the IETF's draft; around the value HTTP has taken them away.
        guard IdempotencyKey.isKey(value), head.headers.values("Idempotency-Key").count == 1 else {
            throw .input(.malformedIdempotencyKey)
        }
        // The digest covers the whole addition: the same key with another addition is a mistake of the client.
        var digest = FNV1a()
        digest.add(completed ? 1 : 0)
        digest.add(text.value)
        digest.add(details)
        self.init(key: value, fingerprint: digest.value)
    }
}

extension FNV1a {
    /// Adds the details that are set, so that an addition without details has the digest that it always had.
    ///
    /// A zero, which no text contains, ends what was added before.
    fileprivate mutating func add(_ details: TaskDetails) {
        for member in details.members {
            add(0)
            add(member.detail.digestName)
            if let text = member.value.string { add(text) } else { add(member.value.serialized()) }
        }
    }
}

extension TaskHandlers {
    /// `PATCH /api/tasks`: all changes of the list, or none; `Link` leads to the tasks that do not fit in the answer.
    func changeAll(_ request: APIRequest, _ owner: Owner, body: [UInt8]) throws(APIFailure) -> HandlerResult {
        try request.head.requireNoCondition("the ifMatch of each change is its condition")
        let changes = try ChangeList(body: body, head: request.head, at: time.wallMilliseconds).changes
        let names = request.head.names
        var command = ChangeTasks(owner: owner, changes: changes, time: time.wallMilliseconds, limit: taskLimit)
        command.names = names
        return storing(command, for: request, store.perform) { [self] outcome throws(APIFailure) in
            switch outcome {
            case .changed(let tasks):
                var response = Self.json(tasks.json)
                if let next = tasks.next { response.headers.append("Link", link(toTasksAfter: next)) }
                response.kept = tasks.place
                return response
            case .missing(let ids): throw .state(.noSuchTasks(ids))
            case .conflict(let ids): throw .state(.tasksChangedMeanwhile(ids))
            case .contradiction(let number, let value): throw .input(.change(number: number, .contradiction(value)))
            case .full: throw .state(.tooManyTasks(limit: taskLimit))
            }
        }
    }

    static func json(_ bytes: [UInt8]) -> Response {
        Response(200, headers: jsonType, body: bytes)
    }
}

extension HeaderSection {
    /// Whether the body has no coding (RFC 9110 section 8.4).
    var hasPlainBody: Bool {
        guard mayContain("Content-Encoding") else { return true }
        return values("Content-Encoding").allSatisfy { value in
            value.split(separator: ",").allSatisfy { $0.trimmingBlanks.isEqualIgnoringCase(to: "identity") }
        }
    }
}

extension RequestTarget {
    /// Refuses arguments that a request to delete does not know: who sent one would take it for obeyed.
    func refuseArguments(exceptText: Bool = false, exceptCompleted: Bool = false) throws(APIFailure) {
        let areKnown = query.allSatisfy { argument in
            argument.name == "access_token" || exceptCompleted && argument.name == "completed"
                || exceptText && TaskInput.isTextName(argument.name)
        }
        guard areKnown else { throw .input(.unclearDeletion) }
    }

    /// The value of an argument; one that is given twice is refused, because who sent it would take both for obeyed.
    func single(_ name: String) throws(APIFailure) -> String? {
        let given = query.filter { $0.name.isSame(as: name) }
        guard given.count < 2 else { throw .input(.argument(name: name, expected: "given once")) }
        return given.first?.value
    }
}

extension RequestHead {
    /// The names that the client asks for: `Accept: application/json; names=one`, or the same parameter of another type.
    var names: TaskNames { headers.acceptParameter("names=one") ? .one : .both }

    /// The revisions of a task that `If-Match` allows; nil: any (RFC 9110 section 13.1.1).
    func expectedRevisions(of id: Int64) -> Set<Int64>? {
        guard headers.contains("If-Match") else { return nil }
        return TaskItem.revisions(ifMatch: headers.values("If-Match").joined(separator: ","), of: id)
    }

    /// Refuses `If-Match` where several tasks may change or go, which no tag of one of them can guard.
    func requireNoCondition(_ reason: String = "it guards one task, by its id") throws(APIFailure) {
        guard !headers.contains("If-Match") else {
            throw .input(.field(name: "If-Match", expected: "left out: \(reason)"))
        }
    }
}
