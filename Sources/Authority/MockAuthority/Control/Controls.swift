import Basics
import HTTP
import JSON
import OpenSSL
import Synchronization

extension MockAuthority {
    /// Answers a request to a control, about the tenant that `profile=` and `tenant=` name, or that of the policies.
    func control(_ host: HostContext) async throws(UnknownRun) -> Decision {
        if let refusal = host.refusalOfControl { return .respond(refusal) }
        let tenant: TenantAuthority
        do throws(InputError) {
            tenant = try self.tenant(Parameters(host.head.target.query))
        } catch {
            return .respond(error.response)
        }
        // A page of another site can let a browser send a GET, but not a POST that looks like one of this machine.
        let mayMakeRun = ![.get, .head].contains(host.head.method)
        guard !mayMakeRun || tenant.runs.names.add(host.runName) else { return .respond(tooManyRuns) }
        let run = try tenant.runs.run(host.runName)
        return await host.with(tenant, run).control()
    }

    private var tooManyRuns: Response {
        Response.text(
            "There are \(TestRunNames.most) test runs already. Use one of them again (POST /_mock/reset?run=NAME), or "
                + "restart the mock.", status: 503)
    }

    /// The tenant of this domain or id, or else the first tenant of the profile.
    private func tenant(_ query: Parameters) throws(InputError) -> TenantAuthority {
        let profile = query["profile"].map { TenantProfile(rawValue: $0) } ?? configuration.profile
        guard let profile else {
            let known = TenantProfile.allCases.map(\.rawValue).joined(separator: ", ")
            throw InputError(message: "There is no profile '\(query["profile"] ?? "")'. Known: \(known).")
        }
        let ofProfile = tenants.filter { $0.configuration.profile == profile }
        guard let name = query["tenant"] else {
            if let first = ofProfile.first { return first }
            throw InputError(message: "No tenant of the profile '\(profile.rawValue)' is configured.")
        }
        if let tenant = ofProfile.first(where: { $0.configuration.tenant.isCalled(name) }) { return tenant }
        let known = ofProfile.map(\.configuration.tenant.name).joined(separator: ", ")
        throw InputError(message: "There is no tenant '\(name)' of this profile. Known: \(known).")
    }
}

/// `/_mock/...`: controls for tests and people, which are no part of the protocol.
///
/// Each control takes `run=`, the name of a test run; without it, the run is that of tenant URLs without a run.
extension HostContext {
    var runName: String { head.target["run"]?.lowercased() ?? "" }

    fileprivate func control() async -> Decision {
        let rows = (Routes.controls + Routes.ofDeveloperPage).filter { $0.matches(head.target.path) }
        return rows.isEmpty ? .respond(unknownControl) : await rows.decide(head.method, self)
    }

    private var unknownControl: Response {
        let lines = Routes.controls.map { "  \($0.methods.map(\.name).joined(separator: ", ")) /\($0.path)" }
        return Response.text(
            """
            No such control. There are, all with ?run= for tests in parallel:
            \(lines.joined(separator: "\n"))
            """, status: 404)
    }

    private var wantsJSON: Bool { head.headers.preferJSON }

    var users: Response { Response.json(.array(run.directory.all.map(\.json))) }

    var requests: Response { Response.json(.array(run.recordedRequests.after(0).map { .object($0.entry) })) }

    /// Resets the tenant that is named, or else every tenant.
    func reset() -> Response {
        let isNamed = head.target["profile"] != nil || head.target["tenant"] != nil
        let new = authority.runs.reset(runName, run)
        for other in mock.tenants where !isNamed && other !== authority {
            if let old = try? other.runs.run(runName) { _ = other.runs.reset(runName, old) }
        }
        return Response.json(with(authority, new).state)
    }

    var badTokens: Response {
        let entries = BadToken.all(of: configuration.profile)
        if wantsJSON { return Response.json(.array(entries.map(\.json))) }
        return Response.text(entries.map(\.line).joined(separator: "\n"))
    }

    func testToken() async throws(InputError) -> Response {
        let specification = try TokenSpecification(Parameters(head.target.query), configuration.profile)
        return wantsJSON
            ? Response.json(try await tokenResponse(specification))
            // A client may put the answer into a header field as it is, so no newline ends it.
            : Response.content(Array(try await token(specification).utf8), "text/plain")
    }
}

/// The controls of a test run: faults, clock, accounts, request log.
extension HostContext {
    /// Reads the JSON object of a body and changes the run, or answers 400 with the error as its text.
    func change(
        _ change: @escaping @Sendable (ConfigurationMember) async throws(InputError) -> JSONValue
    ) -> Decision {
        .answerBody(limit: RequestHead.longestBody) { body in
            await Response.answering { () throws(InputError) in
                Response.json(try await change(try ConfigurationMember.root(body, place: "the body")))
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
        let fault = Fault(
            endpoint: endpoint, times: try member.number("times", in: 1...(1 << 53)) ?? 1,
            delayMilliseconds: min(60_000, try member.number("delay_ms", in: 0...(1 << 53)) ?? 0),
            status: status ?? (body == nil ? nil : 200),
            retryAfter: try member.number("retry_after", in: 0...(1 << 53)),
            body: body ?? "",
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
        run.directory.revoke(try user(member.required("user")).objectID)
        return state
    }

    private func user(_ name: String, status: Status = 400) throws(InputError) -> User {
        if let user = run.directory.user(called: name) { return user }
        throw InputError(message: "There is no user '\(name)'.", status: status)
    }

    /// `POST /_mock/challenge {"user":"alice"}`: the user's next token request fails as Conditional Access lets it.
    func challenge(_ member: ConfigurationMember) throws(InputError) -> JSONValue {
        try member.allow(["user", "error", "suberror", "claims"])
        let reason: ClaimsChallenge.Reason = try member.choice("error") ?? .multifactorNeeded
        let usual: JSONValue = [
            "access_token": ["capolids": ["essential": true, "values": [.string(GUID.random())]]]
        ]
        let claims = try member.optionalObject("claims").map { .object($0) } ?? usual
        let challenge = ClaimsChallenge(
            reason: reason,
            suberror: try member.text("suberror") ?? (reason == .accessBlocked ? "message_only" : "basic_action"),
            claims: String(decoding: claims.serialized(), as: UTF8.self))
        let user = try user(member.required("user"))
        run.challenges.withLock { $0[user.objectID] = challenge }
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
    func removeUser() throws(InputError) -> Response {
        run.directory.remove(try user(head.target.path.last ?? "", status: 404).objectID)
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

    /// `GET /_mock/keys`: every key and its state.
    func listKeys() async throws(InputError) -> Response {
        let state = try await InputError.needingKeys { () throws(PrivateKeyError) in try await keys.current() }
        return Response.json(state.json)
    }

    /// `POST /_mock/keys {"do":"rotate"}`: takes the step, and shows the keys after it.
    func changeKeys(_ member: ConfigurationMember) async throws(InputError) -> JSONValue {
        guard let step: KeyStep = try member.choice("do") else {
            throw InputError(message: "Say what to do: {\"do\":\"rotate\"}.")
        }
        return try await InputError.needingKeys { () throws(PrivateKeyError) in
            try await ownKeys(beginningWith: keys.current()).take(step).json
        }
    }

    /// `PUT /_mock/keys` with the answer to an earlier `GET`: gives each key the state that the key had then.
    func restoreKeys(_ member: ConfigurationMember) throws(InputError) -> JSONValue {
        var uses: [String: KeyRing.State.Use] = [:]
        for row in try member.list("keys") ?? [] { uses[try row.required("kid")] = try row.choice("state") }
        if let state = ownKeys(beginningWith: keys.known).restore(uses) { return state.json }
        throw InputError(message: "Send what GET answered: one of the keys that it lists must be active.")
    }

    /// The keys that a control may change: the tenant's, or in a named run those of the run, which begin with these.
    private func ownKeys(beginningWith state: KeyRing.State) -> KeyRing {
        runName.isEmpty ? authority.keys : authority.makeKeys(of: run, beginningWith: state)
    }
}

extension Fault {
    var json: JSONValue {
        [
            "at": .string(endpoint.rawValue), "times": .integer(times), "delay_ms": .integer(delayMilliseconds),
            "cut": .boolean(cut), "status": status.map { .integer($0) },
        ]
    }
}

extension KeyRing.State {
    fileprivate var json: JSONValue {
        let keys = all.map { key, use -> JSONValue in
            ["kid": .string(key.identifier), "state": .string(use.rawValue)]
        }
        return ["keys": .array(keys)]
    }
}
