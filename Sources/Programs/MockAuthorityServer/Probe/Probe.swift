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
    let report = ProbeReport(options: options, results: probe.results)
    StandardStream.output.print(report.output)
    exitProcess(report.failures.isEmpty ? .success : .failure)
}

/// Sends tokens to an API that trusts a mock-authority, and judges the answers.
struct Probe {
    let options: ProbeOptions
    let mock: RunningMock
    private let signals: Signals
    private(set) var results: [ProbeResult] = []
    /// The names of the keys in the set, which the API knows.
    var knownKeys: Set<String> = []
    private var lastUnknownKey: ContinuousClock.Instant?

    init(options: ProbeOptions, signals: Signals) {
        self.options = options
        self.signals = signals
        let tenant = options.tokenQuery.filter { ["profile", "tenant"].contains($0.name) }
        mock = RunningMock(address: options.authority, caFile: options.caFile, tenant: tenant)
    }

    /// Sends every request; the mock keeps the key of the probe if the API took it, and gets its keys back if not.
    mutating func run() throws(OperatorError) {
        guard try mock.ask("state").member("faults").array == [] else {
            throw .unknown("The mock has faults already. Take them away: curl -X DELETE \(mock.address)/_mock/faults")
        }
        let keys = try mock.ask("keys")
        let first = try token()
        try expectMeaning(first)
        var rotation: ContinuousClock.Instant?
        let outcome = Result { () throws(OperatorError) in
            rotation = try rotate()
            if rotation == nil { try mock.restore(keys) }
            knownKeys = Set(try mock.ask("keys").publishedKeys)
            let badTokens = try badTokens()
            for bad in badTokens { try send(bad, token([("bad", bad.name)])) }
            try sendOthers(first.claims)
            if let rotation { try judgeCache(of: first, since: rotation) }
            try expectRefusals()
            try takeKeysOutOfReach(badTokens)
        }
        try rotation == nil ? mock.restore(keys) : mock.removeFaults()
        try outcome.get()
    }

    // MARK: - Requests

    /// A token for the user, application and scope of the flags, with these parameters added or in place of theirs.
    func token(_ more: [(name: String, value: String)] = []) throws(OperatorError) -> String {
        let names = ["profile", "tenant"] + more.map(\.name)
        var query = options.tokenQuery.filter { !names.contains($0.name) } + more
        if !query.contains(where: { $0.name == "user" }) { query.append(("user", try mock.firstUser())) }
        return try mock.token(query)
    }

    /// Returns the status of the API's answer to a request with this token; 0 if there is no answer.
    func status(_ token: String?) throws(OperatorError) -> Int {
        try stopIfAsked(waiting: .zero)
        var request = FetchRequest(
            url: options.url, connectTime: .seconds(30), totalTime: .seconds(30), caFile: options.caFile,
            allowHTTP: true)
        request.method = options.method
        // A resource that is text would answer 406 to those who take JSON alone.
        request.accept = "application/json, */*;q=0.8"
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
    func statusOfGood(isKeyNew: Bool = false) throws(OperatorError) -> Int {
        let end = ContinuousClock.now + .seconds(options.wait)
        var status = try status(token())
        guard !status.isSuccess, isKeyNew || status == 503 else { return status }
        say("waiting until the API has the keys of the mock, at most \(options.wait) s (--wait)")
        while !status.isSuccess, ContinuousClock.now < end {
            try stopIfAsked(waiting: .seconds(1))
            status = try self.status(token())
        }
        return status
    }

    func stopIfAsked(waiting time: Duration) throws(OperatorError) {
        guard let signal = signals.next(within: time) else { return }
        throw OperatorError("The probe was stopped.", ExitStatus(rawValue: 128 + signal.number) ?? .failure)
    }

    func say(_ text: String) { StandardStream.error.print("mock-authority: \(text)") }

    /// Waits so that an API that looks for the unknown key of a token is within the limits of its library.
    private mutating func pace(_ token: String) throws(OperatorError) {
        let header = token.part(0)
        guard options.pace > 0, header != .null, !knownKeys.contains(header.text("kid")) else { return }
        if lastUnknownKey == nil {
            say(
                "tokens of unknown keys are sent \(options.pace) s apart, since libraries limit how often they fetch keys (--pace)"
            )
        }
        let next = lastUnknownKey.map { $0 + .seconds(options.pace) } ?? .now
        try stopIfAsked(waiting: max(.zero, next - .now))
        lastUnknownKey = .now
    }

    /// Sends a token that the API must refuse, and notes the answer.
    ///
    /// An API that fails on the token may accept the next one of the kind. In an outage of the key set, 503 is the
    /// right answer.
    mutating func send(_ sent: ProbedToken, _ token: String, inOutage: Bool = false) throws(OperatorError) {
        try pace(token)
        let status = try status(token)
        let finding: ProbeResult.Finding? =
            switch status {
            case 200...299: sent.finding
            case 503 where inOutage: nil
            default: .failure(status)
            }
        results.append(ProbeResult(sent: sent, status: status, finding: finding))
    }

    mutating func add(_ sent: ProbedToken, _ status: Int, _ finding: ProbeResult.Finding?) {
        results.append(ProbeResult(sent: sent, status: status, finding: finding))
    }

    func wasAccepted(_ name: String) -> Bool { results.contains { $0.sent.name == name && $0.status.isSuccess } }
}

extension Int {
    var isSuccess: Bool { (200...299).contains(self) }
}

extension String {
    /// The claims of a token, which nobody has verified; null if it has none.
    var claims: JSONValue { part(1) }

    fileprivate func part(_ index: Int) -> JSONValue {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(String(parts[index])) else { return .null }
        return (try? JSONValue(parsing: bytes)) ?? .null
    }
}
