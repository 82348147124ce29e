internal import HTTP
internal import JSON
internal import Synchronization

/// The controls of one run: faults, clock, accounts, journal.
extension ControlEndpoint {
    /// `POST` of these paths, with JSON: what to do with it.
    func command(_ path: [String]) -> (@Sendable (ConfigurationMember) throws(ConfigurationError) -> JSONValue)? {
        switch path {
        case ["faults"]: addFault
        case ["clock"]: setClock
        case ["revoke"]: revoke
        default: nil
        }
    }

    /// Reads a body and obeys it; a mistake is a sentence.
    func obey(
        _ command: @escaping @Sendable (ConfigurationMember) throws(ConfigurationError) -> JSONValue
    ) -> Decision {
        .answerBody(limit: Self.bodyLimit) { body in
            do throws(ConfigurationError) {
                return Response.json(try command(try ConfigurationMember.root(body, place: "the order")))
            } catch {
                return Response.text(error.message, status: 400)
            }
        }
    }

    private func addFault(_ order: ConfigurationMember) throws(ConfigurationError) -> JSONValue {
        try order.allow(["at", "times", "status", "delay_ms", "retry_after", "body", "cut"])
        guard let place: Fault.Place = try order.choice("at") else {
            throw ConfigurationError(message: "Say where: {\"at\":\"keys\",\"status\":503}")
        }
        // 1xx are no final answers, and beyond 599 the server says 500 in their place.
        let (status, body) = (try order.number("status", in: 200...599), try order.text("body"))
        let retryAfter = try order.number("retry_after", in: 0...(1 << 53))
        let fault = Fault(
            place: place, times: try order.number("times", in: 1...(1 << 53)) ?? 1,
            delayMilliseconds: min(60_000, try order.number("delay_ms", in: 0...(1 << 53)) ?? 0),
            answer: status == nil && body == nil
                ? nil : .init(status: Int(status ?? 200), retryAfter: retryAfter, body: body ?? ""),
            cut: try order.truth("cut"))
        run.faults.add(fault)
        return state
    }

    private func setClock(_ order: ConfigurationMember) throws(ConfigurationError) -> JSONValue {
        try order.allow(["skew_s"])
        guard let skew = try order.number("skew_s", in: -(1 << 40)...(1 << 40)) else {
            throw ConfigurationError(message: "Say by how much the clock is off: {\"skew_s\":-7200}")
        }
        run.skew.withLock { $0 = skew }
        return state
    }

    private func revoke(_ order: ConfigurationMember) throws(ConfigurationError) -> JSONValue {
        try order.allow(["user"])
        let user = try known(try order.required("user"))
        run.directory.revoke(user.objectID)
        return state
    }

    private func known(_ name: String) throws(ConfigurationError) -> User {
        guard let user = run.directory.user(called: name) else {
            throw ConfigurationError(message: "There is no user '\(name)'.")
        }
        return user
    }

    /// `PUT /_mock/users/alice`: changes what the body names, or makes the account.
    func putUser(_ name: String) -> Decision {
        obey { order throws(ConfigurationError) in
            let old = run.directory.user(called: name)
            guard let user = old == nil ? try User(member: order, email: name) : try old?.changed(by: order) else {
                throw ConfigurationError(message: "There is no user '\(name)'.")
            }
            guard run.directory.put(user) else {
                throw ConfigurationError(message: "'\(user.email)' belongs to another account.")
            }
            return user.json
        }
    }

    /// `DELETE /_mock/users/alice`: the account is gone, its grants say so.
    func removeUser(_ name: String) -> Response {
        guard let user = run.directory.user(called: name) else {
            return Response.text("There is no user '\(name)'.", status: 404)
        }
        run.directory.remove(user.objectID)
        return Response(204)
    }

    /// `GET /_mock/state`: what this run is like.
    var state: JSONValue {
        [
            "run": .string(head.target["run"] ?? ""), "runs": .array(authority.runs.names.map { .string($0) }),
            "skew_s": .integer(run.skew.withLock { $0 }), "users": .array(run.directory.all.map(\.json)),
            "faults": .array(run.faults.all.map(\.json)), "requests": .integer(Int64(run.requestLog.all.count)),
        ]
    }
}

extension Fault {
    fileprivate var json: JSONValue {
        var members = JSONObject([
            ("at", .string(place.rawValue)), ("times", .integer(times)), ("delay_ms", .integer(delayMilliseconds)),
            ("cut", .boolean(cut)),
        ])
        members["status"] = answer.map { .integer(Int64($0.status)) }
        return .object(members)
    }
}

extension User {
    /// The account with what an order names in the place of what it has.
    fileprivate func changed(by order: ConfigurationMember) throws(ConfigurationError) -> User {
        try order.allow(Self.members)
        var user = self
        if let email = try order.text("email") { user.email = email }
        if let password = try order.text("password") { user.password = password }
        if let name = try order.text("name") { user.name.display = name }
        if let name = try order.text("givenName") { user.name.given = name }
        if let name = try order.text("familyName") { user.name.family = name }
        if let claims = try order.optionalObject("claims") { user.claims = claims }
        if let provider = try order.text("identityProvider") { user.status.identityProvider = provider }
        if let disabled = try order.optionalTruth("disabled") { user.status.disabled = disabled }
        return user
    }
}
