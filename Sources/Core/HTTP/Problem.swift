import JSON

/// Problem details (RFC 9457), for people and programs.
///
/// No member holds anything that a client sent, except numbers: clients show members, and terminals interpret them.
package struct Problem: Error, Sendable, Equatable {
    package var status: Status
    /// The stable name of this kind of problem, such as `task.not_found`; also the anchor in `problems.html`.
    package var code: String
    /// The kind of problem, in short.
    package var title: String
    /// One sentence that says what to do next.
    package var detail: String
    /// The ids of the tasks that the problem concerns, as `ids`, if it concerns one or some of several.
    package var identifiers: [Int64]
    /// The reference of this occurrence, usually made of the request identifier.
    package var instance: String?
    /// Field lines that belong to the answer, such as `Allow` or `WWW-Authenticate`.
    package var headers: FieldLines

    package init(
        _ status: Status, _ code: String, _ title: String, _ detail: String, identifiers: [Int64] = [],
        headers: FieldLines = FieldLines()
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.identifiers = identifiers
        self.headers = headers
    }

    /// The path below which a proxy has put the server, or nothing.
    package var base = ""

    /// The address at which the kind of problem is described; it is relative, so it works under any name of the server.
    package var type: String { "\(base)/problems.html#\(code)" }
}

extension Problem {
    /// The media type of ``json``.
    package static let mediaType = "application/problem+json"

    /// The problem as one line of JSON, with `error` and `message` for readers that know no RFC 9457.
    package var json: [UInt8] {
        var members: [(String, JSONValue)] = [
            ("type", .string(type)), ("title", .string(title)), ("status", .integer(Int64(status.rawValue))),
            ("detail", .string(detail)), ("code", .string(code)),
        ]
        if !identifiers.isEmpty { members.append(("ids", .array(identifiers.map { .integer($0) }))) }
        if let instance { members.append(("instance", .string(instance))) }
        members += [("error", .string(code)), ("message", .string(detail))]
        return JSONValue.object(JSONObject(members)).serialized()
    }

    /// The problem as one line of text.
    package var line: [UInt8] {
        let ids = identifiers.isEmpty ? "" : " ids: \(identifiers.map(String.init).joined(separator: ", "))"
        return Array("\(title). \(detail)\(ids) (\(code))\n".utf8)
    }

    /// Returns the answer with this problem; `cacheControl` is nil if the caller adds the field.
    ///
    /// JSON is only for clients that ask for it, and for pages: the old client with ADAL ends if it gets an object for
    /// a list.
    package func response(
        for head: RequestHead?, cacheControl: String? = "no-store", below base: String = ""
    ) -> Response {
        let asJSON = head?.prefersProblemJSON ?? false
        var response = Response(status, body: asJSON ? json(for: head, below: base) : line)
        response.headers.append("Content-Type", asJSON ? Problem.mediaType : "text/plain; charset=utf-8")
        if let cacheControl { response.headers.append("Cache-Control", cacheControl) }
        response.headers.append(headers)
        return response
    }

    private func json(for head: RequestHead?, below base: String) -> [UInt8] {
        var problem = self
        problem.base = base
        if problem.instance == nil, let head { problem.instance = "/requests/\(head.identifier)" }
        return problem.json
    }
}

extension RequestHead {
    /// Whether problems are answered in JSON: `Accept` prefers a JSON type to text, or a page asks (`Origin`).
    var prefersProblemJSON: Bool {
        headers.contains("Origin") || headers.preferJSON(["application/json", Problem.mediaType])
    }
}
