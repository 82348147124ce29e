import HTTP
import Tasks

extension TaskHandlers {
    /// `GET /api/tasks/changes`: what was changed and removed since a token; without one it begins with the whole list.
    ///
    /// Who asks for events gets them as long as the token lives.
    func changes(_ request: APIRequest, _ owner: Owner) throws(APIFailure) -> HandlerResult {
        let head = request.head
        if head.headers.name("text/event-stream", before: "application/json"), head.method == .get {
            return try streamChanges(request, owner)
        }
        let query = try ListChanges(head, of: owner)
        return storing(withPlaceOf: owner) { [store] place, answer in
            var query = query
            query.place = place
            return store.read(query, answer)
        } then: { [self] outcome throws(APIFailure) in
            guard case .page(let page) = outcome else { throw .state(.changesForgotten) }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(page.mostBytes)
            page.appendJSON(for: owner, to: &bytes)
            let list = TaskList(json: bytes, next: nil, place: page.tasks.place)
            return representation(of: list, .all).answer(to: head)
        }
    }
}

extension ListChanges {
    init(_ head: RequestHead, of owner: Owner) throws(APIFailure) {
        let target = head.target
        var since: ChangePoint?
        if let token = try target.single("since") {
            since = ChangePoint(token: token, for: owner)
            guard since != nil else {
                throw .input(.argument(name: "since", expected: "the next of an earlier answer to the same person"))
            }
        }
        let limit = try TaskQuery.integer("limit", in: 1...Int64(Self.most), of: target)
        self.init(owner: owner, since: since, limit: limit.map { Int($0) } ?? Self.most, names: head.names)
    }
}

extension TaskHandlers {
    /// `GET /api/tasks/changes` with `Accept: text/event-stream`: the same as a stream, from the point of
    /// `Last-Event-ID` or `since`.
    func streamChanges(_ request: APIRequest, _ owner: Owner) throws(APIFailure) -> HandlerResult {
        let query = try ListChanges(ofStream: request.head, of: owner)
        let (stream, content) = try streams.open(query, request)
        return storing(withPlaceOf: owner) { place, answer in
            stream.read(at: place, answer)
        } then: { outcome throws(APIFailure) in
            guard stream.begin(with: outcome) else { throw .state(.changesForgotten) }
            var response = Response(200, headers: Self.streamHeaders)
            response.stream = content
            return .ready(response)
        }
    }

    /// nginx would collect events until its buffer is full.
    private static let streamHeaders: FieldLines = [
        "Content-Type": "text/event-stream", "X-Accel-Buffering": "no",
    ]
}

extension ListChanges {
    /// The question of a stream, which goes on after the last event that the client has.
    fileprivate init(ofStream head: RequestHead, of owner: Owner) throws(APIFailure) {
        let asked = try ListChanges(head, of: owner)
        guard let identifier = head.headers["Last-Event-ID"] else {
            self = asked
            return
        }
        guard let point = ChangePoint(token: identifier, for: owner) else {
            throw .input(.field(name: "Last-Event-ID", expected: "the id of an event that was sent to the same person"))
        }
        self.init(owner: owner, since: point, limit: asked.limit, names: asked.names)
    }
}
