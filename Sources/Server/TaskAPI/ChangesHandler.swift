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
        let query = try ListChanges(head.target, of: owner)
        return .pending { [self] () async throws(APIFailure) in
            let list = try await storing(withRoomOf: owner) { () throws(StoreError) in
                try await changes(query)
            }
            guard let list else { throw .state(.changesForgotten) }
            return try await representation(of: list, .all).answer(to: head).response()
        }
    }

    /// A page as an answer, which has memory of its own if it is long; nil if the point is forgotten.
    private func changes(_ query: ListChanges) async throws(StoreError) -> TaskList? {
        guard case .page(let page) = try await store.read(query) else { return nil }
        let lease = try answers.leaseIfLong(page.mostBytes, for: query.owner)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(page.mostBytes)
        page.appendJSON(for: query.owner, to: &bytes)
        return TaskList(json: bytes, next: nil, lease: lease)
    }
}

extension ListChanges {
    init(_ target: RequestTarget, of owner: Owner) throws(APIFailure) {
        var since: ChangePoint?
        if let token = try target.single("since") {
            since = ChangePoint(token: token, for: owner)
            guard since != nil else {
                throw .input(.argument(name: "since", expected: "the next of an earlier answer to the same person"))
            }
        }
        let limit = try TaskQuery.integer("limit", in: 1...Int64(Self.most), of: target)
        self.init(owner: owner, since: since, limit: limit.map { Int($0) } ?? Self.most)
    }
}
