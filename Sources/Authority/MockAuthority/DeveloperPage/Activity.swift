import Basics
import HTTP
import JSON

/// What happened in a run, as rows of the page.
struct Activity: Sendable {
    let run: TestRun

    /// How many requests the page shows; the control shows all that are kept.
    static let shownRequests = 50

    /// The answer of `/_mock/live`: the rows that the page puts before its own.
    func news(
        _ requests: [RecentEntries<JSONObject>.Numbered], _ tokens: [RecentEntries<IssuedTokens.Entry>.Numbered]
    ) -> HTML {
        """
        <div data-run="\(run.identifier)">
        <ol id="new-requests">\(rows(requests))</ol>
        <ol id="new-tokens">\(rows(tokens))</ol>
        \(faults(in: "new-faults"))
        </div>
        """
    }

    /// The newest first.
    func rows(_ requests: [RecentEntries<JSONObject>.Numbered]) -> [HTML] {
        requests.suffix(Self.shownRequests).reversed().map { row($0.number, $0.entry) }
    }

    private func row(_ number: Int, _ request: JSONObject) -> HTML {
        let fields = (request["headers"]?.array ?? []).compactMap(\.array).map { field -> HTML in
            "<dt>\(field.first?.string ?? "")</dt><dd>\(field.last?.string ?? "")</dd>"
        }
        let body: HTML = request["body"]?.string.map { "<pre>\($0)</pre>" } ?? ""
        let status = request["status"]?.integer ?? 0
        let time = Timestamp.b2cText(seconds: request["at"]?.integer ?? 0)
        return """
            <li data-number="\(number)"><details><summary><time>\(time)</time>
            <b>\(request["method"]?.string ?? "")</b> <span class="mark\(status >= 400 ? " bad" : "")">\(status)</span>
            <span class="target">\(request["target"]?.string ?? "")</span></summary>
            <dl>\(fields)</dl>\(body)</details></li>
            """
    }

    func rows(_ tokens: [RecentEntries<IssuedTokens.Entry>.Numbered]) -> [HTML] {
        tokens.reversed().map { row($0.number, $0.entry) }
    }

    private func row(_ number: Int, _ entry: IssuedTokens.Entry) -> HTML {
        let token = DecodedToken(entry.token)
        let time = Timestamp.b2cText(seconds: entry.time)
        let defect: HTML = entry.defect.map { " <span class=\"mark bad\">\($0)</span>" } ?? ""
        return """
            <li data-number="\(number)"><details><summary><time>\(time)</time>
            <b>\(token.subject)</b> <span>\(token.kind)</span>\(defect)</summary>
            <p><button type="button" class="script small" data-copy="\(entry.token)" hidden>\
            Copy<span class="unseen"> token \(number)</span></button> \(token.validity)</p>
            <pre>\(token.header)</pre><pre>\(token.claims)</pre></details></li>
            """
    }

    /// The faults that wait for requests, with the number by which the page asks whether they have changed since.
    func faults(in element: String) -> HTML {
        // The number first: faults that are newer than it are sent again, and none is missed.
        let (changes, waiting) = (run.faults.changes, run.faults.all)
        let list: HTML =
            waiting.isEmpty ? "<p>None waits for a request.</p>" : "<ul class=\"rows\">\(waiting.map(row))</ul>"
        return "<div id=\"\(element)\" data-changes=\"\(changes)\">\(list)</div>"
    }

    private func row(_ fault: Fault) -> HTML {
        var effects: [String] = []
        if fault.delayMilliseconds > 0 { effects.append("\(fault.delayMilliseconds) ms later") }
        if let answer = fault.answer { effects.append("answers \(answer.status)") }
        if fault.cut { effects.append("cuts the body") }
        effects.append(fault.times.counted("time"))
        return "<li><b>\(fault.endpoint.rawValue)</b> \(effects.joined(separator: ", "))</li>"
    }
}

/// A token, taken apart for people; what is no token is shown as it is.
struct DecodedToken: Sendable {
    private let parts: [JSONValue?]

    init(_ token: String) {
        parts = token.split(separator: ".", omittingEmptySubsequences: false).prefix(2).map { part in
            Base64.decodeLenient(part).flatMap { try? JSONValue(parsing: $0) }
        }
    }

    private func part(_ index: Int) -> JSONValue? { index < parts.count ? parts[index] : nil }
    private func claim(_ name: String) -> JSONValue? { part(1)?.object?[name] }

    var header: String { part(0)?.indentedText ?? "The header is not JSON." }
    var claims: String { part(1)?.indentedText ?? "The payload is not JSON." }

    /// Whom it is about.
    var subject: String {
        let name = claim("name") ?? claim("preferred_username") ?? claim("oid") ?? claim("sub")
        return name?.string ?? "no subject"
    }

    /// What it is for: its scopes, else its audience; and the policy.
    var kind: String {
        let scope = claim("scp")?.string.map { "scopes \($0)" } ?? claim("aud")?.string.map { "for \($0)" }
        let policy = (claim("tfp") ?? claim("acr"))?.string
        return [scope, policy].compactMap { $0 }.joined(separator: ", ")
    }

    var validity: String {
        guard let expiry = claim("exp")?.integer else { return "Without exp." }
        return "Valid until \(Timestamp.b2cText(seconds: expiry))."
    }
}
