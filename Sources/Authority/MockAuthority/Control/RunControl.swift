import HTTP
import JSON
import Synchronization

/// The controls of a test run: faults, clock, accounts, request log.
extension HostContext {
    /// Reads the JSON object of a body and changes the run, or answers 400 with the error as its text.
    func change(_ change: @escaping @Sendable (ConfigurationMember) throws(InputError) -> JSONValue) -> Decision {
        .answerBody(limit: RequestHead.longestBody) { body in
            do throws(InputError) {
                return Response.json(try change(try ConfigurationMember.root(body, place: "the body")))
            } catch {
                return Response.text(error.message, status: 400)
            }
        }
    }

    /// `POST /_mock/faults {"at":"keys","status":503}`.
    func addFault(_ member: ConfigurationMember) throws(InputError) -> JSONValue {
        try member.allow(["at", "times", "status", "delay_ms", "retry_after", "body", "cut"])
        guard let endpoint: Fault.Endpoint = try member.choice("at") else {
            throw InputError(message: "Say where: {\"at\":\"keys\",\"status\":503}")
        }
        // 1xx are no final answers, and beyond 599 the server says 500 in their place.
        let (status, body) = (try member.number("status", in: 200...599), try member.text("body"))
        let retryAfter = try member.number("retry_after", in: 0...(1 << 53))
        let fault = Fault(
            endpoint: endpoint, times: try member.number("times", in: 1...(1 << 53)) ?? 1,
            delayMilliseconds: min(60_000, try member.number("delay_ms", in: 0...(1 << 53)) ?? 0),
            answer: status == nil && body == nil
                ? nil : .init(status: Int(status ?? 200), retryAfter: retryAfter, body: body ?? ""),
            cut: try member.truth("cut") ?? false)
        run.faults.withLock { $0.append(fault) }
        return state
    }

    func removeFaults() -> Response {
        run.faults.withLock { $0 = [] }
        return Response.json(state)
    }

    /// `POST /_mock/clock {"skew_s":-7200}`.
    func setClock(_ member: ConfigurationMember) throws(InputError) -> JSONValue {
        try member.allow(["skew_s"])
        guard let skew = try member.number("skew_s", in: -(1 << 40)...(1 << 40)) else {
            throw InputError(message: "Say by how much the clock is off: {\"skew_s\":-7200}")
        }
        run.skew.withLock { $0 = skew }
        return state
    }

    /// `POST /_mock/revoke {"user":"alice"}`: makes the grants of the account void.
    func revoke(_ member: ConfigurationMember) throws(InputError) -> JSONValue {
        try member.allow(["user"])
        let name = try member.required("user")
        guard let user = run.directory.user(called: name) else {
            throw InputError(message: "There is no user '\(name)'.")
        }
        run.directory.revoke(user.objectID)
        return state
    }

    /// `PUT /_mock/users/alice`: changes the members that the body has, or creates the account.
    func putUser() -> Decision {
        let name = head.target.path.last ?? ""
        return change { member throws(InputError) in try putUser(name, member) }
    }

    private func putUser(_ name: String, _ member: ConfigurationMember) throws(InputError) -> JSONValue {
        let old = run.directory.user(called: name)
        var user = if let old { old } else { try User(member: member, email: name) }
        if old != nil { try user.change(by: member) }
        if old == nil, let owner = run.directory.user(user.objectID) {
            throw InputError(
                message: "'\(user.objectID)' is the object id of '\(owner.email)': leave it out, or change that user.")
        }
        guard run.directory.put(user) else { throw InputError(message: "'\(user.email)' belongs to another account.") }
        return user.json
    }

    /// `DELETE /_mock/users/alice`: removes the account; requests with its grants get an error that says so.
    func removeUser() -> Response {
        let name = head.target.path.last ?? ""
        guard let user = run.directory.user(called: name) else {
            return Response.text("There is no user '\(name)'.", status: 404)
        }
        run.directory.remove(user.objectID)
        return Response(204)
    }

    var state: JSONValue {
        [
            "run": .string(runName), "runs": .array(authority.runs.names.all.map { .string($0) }),
            "skew_s": .integer(run.skew.withLock { $0 }), "users": .array(run.directory.all.map(\.json)),
            "faults": .array(run.faults.withLock { $0 }.map(\.json)),
            "requests": .integer(Int64(run.recordedRequests.after(0).count)),
        ]
    }
}

extension Fault {
    var json: JSONValue {
        var members = JSONObject([
            ("at", .string(endpoint.rawValue)), ("times", .integer(times)), ("delay_ms", .integer(delayMilliseconds)),
            ("cut", .boolean(cut)),
        ])
        members["status"] = answer.map { .integer(Int64($0.status)) }
        return .object(members)
    }
}
