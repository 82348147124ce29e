import Basics
import Curl
import JSON
import MockAuthority
import Platform

func runProbe(_ arguments: [String], _ signals: Signals) throws(OperatorError) -> Never {
    if arguments.contains("--help") { answer(ProbeOptions.help) }
    let options = try ProbeOptions(arguments)
    var probe = Probe(options: options, signals: signals)
    try probe.run()
    let report = ProbeReport(url: options.url, results: probe.results)
    StandardStream.output.print(report.output(options.format))
    exitProcess(report.wrong.isEmpty ? .success : .failure)
}

/// Sends tokens to an API that trusts a mock-authority, and judges the answers.
struct Probe {
    private let options: ProbeOptions
    private let mock: RunningMock
    private let signals: Signals
    private(set) var results: [ProbeResult] = []

    init(options: ProbeOptions, signals: Signals) {
        self.options = options
        self.signals = signals
        let tenant = options.tokenQuery.filter { ["profile", "tenant"].contains($0.name) }
        mock = RunningMock(address: options.authority, caFile: options.caFile, tenant: tenant)
    }

    /// Sends every request, and then gives the mock its keys back, also after an error.
    mutating func run() throws(OperatorError) {
        guard try mock.ask("state").member("faults").array == [] else {
            throw .unknown("The mock has faults already. Take them away: curl -X DELETE \(mock.address)/_mock/faults")
        }
        let keys = try mock.ask("keys")
        let first = try token()
        try expectMeaning(first)
        let outcome = Result { () throws(OperatorError) in
            try rotate(keys, first)
            let badTokens = try badTokens()
            for bad in badTokens { try send(bad, token([("bad", bad.name)])) }
            try sendOthers(audience: first.claims.member("aud"))
            try expectRefusals()
            try takeKeysOutOfReach(badTokens)
        }
        try mock.restore(keys)
        try outcome.get()
    }

    // MARK: - Requests

    /// A token for the user, application and scope of the flags, with these parameters added or in place of theirs.
    private func token(_ more: [(name: String, value: String)] = []) throws(OperatorError) -> String {
        let names = ["profile", "tenant"] + more.map(\.name)
        var query = options.tokenQuery.filter { !names.contains($0.name) } + more
        if !query.contains(where: { $0.name == "user" }) { query.append(("user", try mock.firstUser())) }
        return try mock.token(query)
    }

    /// Returns the status of the API's answer to a request with this token; 0 if there is no answer.
    private func status(_ token: String?) throws(OperatorError) -> Int {
        try stopIfAsked(waiting: 0)
        var request = FetchRequest(url: options.url, totalTime: .seconds(10), caFile: options.caFile, allowHTTP: true)
        request.method = options.method
        request.fields = options.fields + (token.map { ["Authorization: Bearer \($0)"] } ?? [])
        do throws(FetchError) {
            let status = try HTTPFetcher().exchange(request).status
            guard status == 429 else { return status }
        } catch {
            // An API may close the connection on a bad token. Whether it still runs is asked with a good one.
            if token != nil, !results.isEmpty { return 0 }
            throw .unknown("\(options.url): \(error.message). Start your API, or correct the URL.")
        }
        throw .unknown("The API answers 429, because it limits requests. Raise its limit for the time of the probe.")
    }

    /// Returns the status of a good token, which the API may refuse for a while: with 503, or because it does not know
    /// a new key.
    private func statusOfGood(isKeyNew: Bool = false) throws(OperatorError) -> Int {
        let end = ContinuousClock.now + .seconds(options.wait)
        var status = try status(token())
        guard !status.isSuccess, isKeyNew || status == 503 else { return status }
        StandardStream.error.print(
            "mock-authority: waiting until the API has the keys of the mock, at most \(options.wait) s (--wait)")
        while !status.isSuccess, ContinuousClock.now < end {
            try stopIfAsked(waiting: 1)
            status = try self.status(token())
        }
        return status
    }

    private func stopIfAsked(waiting seconds: Int) throws(OperatorError) {
        guard let signal = signals.next(within: .seconds(seconds)) else { return }
        throw OperatorError("The probe was stopped.", ExitStatus(rawValue: 128 + signal.number) ?? .failure)
    }

    /// Sends a token that the API must refuse, and notes the answer.
    ///
    /// An API that fails on the token may accept the next one of the kind. In an outage of the key set, 503 is the
    /// right answer.
    private mutating func send(
        _ sent: ProbedToken, _ token: String, inOutage: Bool = false
    ) throws(OperatorError) {
        let status = try status(token)
        let (verdict, reason): (ProbeResult.Verdict, String) =
            switch (status, sent.breach) {
            case (200...299, let breach?): (.wrong, breach)
            case (200...299, nil):
                (.noted, "No standard forbids that. task-server refuses it; decide what your API does.")
            case (503, _) where inOutage: (.right, "")
            case (0, _), (500...599, _): (.noted, "It should answer 401. Look into its log.")
            default: (.right, "")
            }
        results.append(ProbeResult(sent: sent, status: status, verdict: verdict, reason: reason))
    }

    /// Sends a good token, and notes the answer with this advice if it is no success.
    private mutating func sendGood(
        _ name: String, _ words: String, isKeyNew: Bool = false, advice: String
    ) throws(OperatorError) {
        let status = try statusOfGood(isKeyNew: isKeyNew)
        results.append(
            ProbeResult(
                sent: ProbedToken(name: name, words: words), status: status,
                verdict: status.isSuccess ? .right : .noted, reason: status.isSuccess ? "" : advice))
    }

    // MARK: - What is sent

    /// Requires that a good token is accepted and a request without one refused.
    private func expectMeaning(_ first: String) throws(OperatorError) {
        let status = try statusOfGood()
        guard status.isSuccess else {
            let names = ["iss", "aud", "scp"].filter { first.claims.member($0) != .null }
            let claims = names.map { "\($0) \(String(decoding: first.claims.member($0).serialized(), as: UTF8.self))" }
            throw .unknown(
                "The API answers \(status) to a good token, so its refusals mean nothing. The token has "
                    + "\(claims.joined(separator: ", ")). Let your API trust them, and give --scope if it requires a scope. "
                    + "A 404 or 405 means another URL or --method.")
        }
        let refusal = try self.status(nil)
        guard !refusal.isSuccess else {
            throw .unknown(
                "The API accepts a request without a token, so the URL is open to everybody. Name one that needs a token."
            )
        }
        guard refusal < 500 else {
            throw .unknown(
                "The API answers \(refusal) to a request without a token, so its refusals mean nothing. It should answer "
                    + "401. Look into its log.")
        }
    }

    /// Requires that refusals meant the tokens: good ones are accepted still, and not each bad one was a failure.
    private func expectRefusals() throws(OperatorError) {
        let status = try statusOfGood()
        guard status.isSuccess else {
            throw .unknown(
                "The API answers \(status) to good tokens by now, so its refusals mean nothing. Does it limit requests or "
                    + "block addresses, or did it end?")
        }
        guard results.contains(where: { $0.verdict == .wrong || $0.verdict == .right && !$0.status.isSuccess }) else {
            throw .unknown(
                "The API fails on each bad token, with a status from 500 on or without an answer, so nobody knows whether it "
                    + "would accept one. It should answer 401. Look into its log.")
        }
    }

    /// Withdraws the key of the mock, looks what the API does, and gives the mock the former key back.
    private mutating func rotate(_ keys: JSONValue, _ first: String) throws(OperatorError) {
        _ = try mock.ask("keys", method: "POST", content: ["do": "rotate"])
        try sendGood(
            "new-key", "a good token of a key that the mock has just published", isKeyNew: true,
            advice: "After a rotation nobody can sign in until the API loads the keys again. Load them when a kid is "
                + "unknown (OpenID Connect Core 1.0 section 10.1.1). If the API loads them at intervals, give --wait.")
        guard results.last?.verdict == .right else { return try mock.restore(keys) }
        try send(ProbedToken("withdrawn-key", "a token that was good before the mock withdrew its key", .key), first)
        try mock.restore(keys)
        guard try !statusOfGood(isKeyNew: true).isSuccess else { return }
        throw .unknown(
            "The API accepted a new key of the mock, but not the former one when the mock had it back. Give a longer --wait: "
                + "some libraries load keys only once in a while.")
    }

    /// The bad tokens of the mock's list that an API must refuse; those for scopes only if the API requires one.
    private func badTokens() throws(OperatorError) -> [ProbedToken] {
        let requiresScope = options.tokenQuery.contains { $0.name == "scope" }
        return try (mock.ask("token/bad").array ?? []).filter { entry in
            let status = entry.member(requiresScope ? "statusWithScopes" : "status").integer
            return status != 200 && (requiresScope || entry.member("statusWithScopes").integer != 403)
        }.map { entry in
            let rule = entry.member("forbiddenBy").string
            return ProbedToken(
                name: entry.text("name"), words: entry.text("words"),
                breach: rule.map { "\(entry.text("danger")) That breaks \($0)." })
        }
    }

    /// Sends good tokens of other tenants and for other applications, and tokens that the keys of other tenants sign.
    private mutating func sendOthers(audience: JSONValue) throws(OperatorError) {
        let registration = try mock.ask("registration")
        let ownKeys = try mock.ask("keys").member("keys").array?.map { $0.text("kid") } ?? []
        for other in registration.member("tenants").array ?? [] where other.member("isShown") == false {
            let (id, title) = (other.text("id"), "\(other.text("title")), \(other.text("name"))")
            let tenant = RunningMock(
                address: mock.address, caFile: mock.caFile,
                tenant: [("profile", other.text("profile")), ("tenant", id)])
            if !options.trusted.contains(id), let user = try? tenant.firstUser() {
                let sent = ProbedToken("tenant-\(id)", "a good token of another tenant: \(title)", .issuer)
                try send(sent, tenant.token([("user", user)]))
            }
            let kid = try tenant.ask("keys").activeKey
            if !ownKeys.contains(kid) {
                let sent = ProbedToken("key-of-\(id)", "signed by the key of another tenant: \(title)", .key)
                try send(sent, token([("kid", kid)]))
            }
        }
        for client in registration.member("clients").array ?? [] where !options.trusted.contains(client.text("id")) {
            let id = client.text("id")
            let other = try mock.token([("user", mock.firstUser()), ("client", id)])
            if other.claims.member("aud") == audience { continue }
            try send(ProbedToken("client-\(id)", "a good token for another application", .audience), other)
        }
    }

    /// Lets the key set and the metadata fail: known keys must serve on, and unknown ones must not be taken on trust.
    private mutating func takeKeysOutOfReach(_ badTokens: [ProbedToken]) throws(OperatorError) {
        for endpoint in ["keys", "metadata"] {
            let fault: JSONValue = ["at": .string(endpoint), "times": 1000, "status": 503]
            _ = try mock.ask("faults", method: "POST", content: fault)
        }
        try sendGood(
            "known-key-in-outage", "a good token of a known key, while the key set answers 503",
            advice: "An outage of the provider's key set is an outage of the API. Keep the last keys that were loaded.")
        for var bad in badTokens where ["unpublished-key", "retired-key"].contains(bad.name) {
            let token = try token([("bad", bad.name)])
            bad.name += "-in-outage"
            bad.words += ", while the key set answers 503"
            try send(bad, token, inOutage: true)
        }
    }
}

extension ProbedToken {
    fileprivate init(_ name: String, _ words: String, _ rule: BadTokenRule) {
        self.init(name: name, words: words, breach: "\(rule.danger) That breaks \(rule.source).")
    }
}

extension Int {
    fileprivate var isSuccess: Bool { (200...299).contains(self) }
}

extension String {
    /// The claims of a token, which nobody has verified; null if it has none.
    fileprivate var claims: JSONValue {
        let parts = split(separator: ".")
        guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])) else { return .null }
        return (try? JSONValue(parsing: bytes)) ?? .null
    }
}
