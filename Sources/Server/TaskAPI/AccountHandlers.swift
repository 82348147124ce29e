import Basics
import HTTP
import JSON
import Platform
import Tasks
import Tokens

/// What the server knows of a person, everything of the person as a file, and the removal of everything.
extension TaskHandlers {
    /// `GET /api/me`: the claims of the presented token that the server used.
    static func claims(of principal: Principal) -> HandlerResult {
        let body: JSONValue = [
            "owner": .string(principal.owner),
            "name": principal.name.map { .string($0) } ?? .null,
            "policy": principal.policy.map { .string($0) } ?? .null,
            "scopes": .array(principal.scopes.map { .string($0) }),
            "expires": .string(Timestamp(milliseconds: principal.expiry * 1000).text),
            // A server with one provider answers as it did before there were several.
            "source": principal.source.map { .string($0) },
        ]
        return .ready(json(body.serialized()))
    }

    /// `GET /api/me/export`: the tasks as `GET /api/tasks` lists them, in a document with the address of the next one.
    func export(_ request: APIRequest, _ owner: Owner) throws(APIFailure) -> HandlerResult {
        let query = try TaskQuery(request.head.target)
        guard query == TaskQuery(after: query.after) else {
            throw .input(.argument(name: "limit or completed", expected: "left out: an export has everything"))
        }
        let names = request.head.names
        return .pending { [self] () async throws(APIFailure) in
            // The place is for a list of the export's own, since the document is a copy of it.
            let place = try await place(of: owner)
            let selection = TaskQuery(after: query.after ?? 0)
            return Self.storing { [store] in
                store.read(ListTasks(owner: owner, selection: selection, at: place, names: names), $0)
            } then: { [self] list in
                .ready(document(of: list, owner, place))
            }
        }
    }

    private func document(of list: TaskList, _ owner: Owner, _ place: AnswerPlace) -> Response {
        let next = list.next.map { "\(exportPath)?after=\($0)" }
        let head = JSONValue.object(["owner": .string(owner.identifier), "next": next.map { .string($0) } ?? .null])
        var body: [UInt8] = []
        body.reserveCapacity(list.json.count + 1024)
        body += head.serialized().dropLast()
        body += #","tasks":"#.utf8
        body += list.json
        body.append(UInt8(ascii: "}"))
        var response = Self.json(body)
        response.headers.append("Content-Disposition", "attachment; filename=\"tasks.json\"")
        if let next { response.headers.append("Link", "<\(next)>; rel=\"next\"") }
        if response.body.count > AnswerMemory.unplaced { response.kept = place }
        return response
    }

    /// `DELETE /api/me`: nothing that was stored stays, and no token that was issued before adds anything.
    func removeOwner(_ request: APIRequest, _ owner: Owner) throws(APIFailure) -> HandlerResult {
        try request.head.target.refuseArguments()
        guard request.head.headers.values("Confirm-Delete") == ["yes"] else { throw .input(.unconfirmedDeletion) }
        let command = RemoveOwner(owner: owner, issued: request.issued, time: time.wallMilliseconds)
        return storing(command, for: request, store.perform) { [streams] in
            streams.end(of: owner, .deleted)
            return Response(204)
        }
    }
}
