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

    /// The JSON and the fields of a problem that never changes, made once because a flood of requests gets it.
    private var template: Template?

    package static let mediaType = "application/problem+json"

    /// The same problem with the parts of its answer made already.
    package func prepared() -> Problem {
        var problem = self
        problem.template = Template(self, below: "")
        return problem
    }

    package var line: [UInt8] {
        let ids = identifiers.isEmpty ? "" : " ids: \(identifiers.map(String.init).joined(separator: ", "))"
        return Array("\(title). \(detail)\(ids) (\(code))\n".utf8)
    }

    /// Returns the answer with this problem; `cacheControl` is nil if the caller adds the field.
    ///
    /// `isOld` says that the address is one of old clients: that with ADAL ends if it gets an object for a list
    /// (docs/internals/clients.md, "Errors"). `base` is the path below which a proxy has put the server, or nothing.
    package func response(
        for head: RequestHead?, isOld: Bool = false, cacheControl: String? = "no-store", below base: String = ""
    ) -> Response {
        let asJSON = head?.takesProblemJSON(isOld: isOld) ?? false
        var response = Response(status, headers: FieldLines(reserving: Self.fields))
        if asJSON {
            let template = (base.isEmpty ? template : nil) ?? Template(self, below: base)
            response.headers.append(template.headers)
            response.body = template.json(of: head?.identifier)
        } else {
            response.headers.append("Content-Type", "text/plain; charset=utf-8")
            response.headers.append(headers)
            response.body = line
        }
        if let cacheControl { response.headers.append("Cache-Control", cacheControl) }
        return response
    }

    /// Room for the fields of a problem and the common ones, in bytes.
    private static let fields = 512

    /// The parts of an answer in JSON that are the same for each request with this problem.
    ///
    /// The JSON is one line, with `error` and `message` for readers that know no RFC 9457.
    private struct Template: Sendable, Equatable {
        let headers: FieldLines
        private let start: [UInt8]
        private let end: [UInt8]

        init(_ problem: Problem, below base: String) {
            // The address is relative, so it works under any name of the server.
            var members: [(String, JSONValue)] = [
                ("type", .string("\(base)/problems.html#\(problem.code)")), ("title", .string(problem.title)),
                ("status", .integer(Int64(problem.status.rawValue))), ("detail", .string(problem.detail)),
                ("code", .string(problem.code)),
            ]
            if !problem.identifiers.isEmpty {
                members.append(("ids", .array(problem.identifiers.map { .integer($0) })))
            }
            start = JSONValue.object(JSONObject(members)).serialized().dropLast() + Self.instance.utf8
            let old: JSONValue = ["error": .string(problem.code), "message": .string(problem.detail)]
            end = Array("\",".utf8) + old.serialized().dropFirst()
            var headers: FieldLines = ["Content-Type": Problem.mediaType]
            headers.append(problem.headers)
            self.headers = headers
        }

        /// The reference of an occurrence is made of the identifier of its request, which is letters and digits.
        private static let instance = #","instance":"/requests/"#

        /// The JSON for a request of this identifier; without a request it has no `instance`.
        func json(of identifier: String?) -> [UInt8] {
            guard let identifier else { return start.dropLast(Self.instance.utf8.count) + end.dropFirst() }
            var json: [UInt8] = []
            json.reserveCapacity(start.count + identifier.utf8.count + end.count)
            json += start
            json += identifier.utf8
            json += end
            return json
        }
    }
}

extension RequestHead {
    /// Whether problems are answered in JSON: unless `Accept` prefers text by name.
    ///
    /// Old clients must prefer JSON, and pages (`Origin`) always get JSON.
    func takesProblemJSON(isOld: Bool) -> Bool {
        if headers.contains("Origin") { return true }
        // Of a head that libmicrohttpd refused, only the longest field is known.
        guard !target.raw.isEmpty else { return false }
        guard headers.contains("Accept") else { return !isOld }
        let types = ["application/json", Problem.mediaType]
        return isOld ? headers.preferJSON(types) : !types.allSatisfy { headers.name("text/plain", before: $0) }
    }
}

/// The faults of a request that the server finds itself, before the application sees it or while that takes its time.
package enum HTTPFault: Error, Sendable, Hashable, CaseIterable {
    /// The length of the body is unclear, or a field line is malformed (V-142).
    case framing
    /// A field that is allowed once is repeated (V-142).
    case repeatedField
    /// `Host` is missing, empty, doubled or malformed (V-143).
    case host
    /// The target is malformed or not accepted (V-144).
    case target
    /// The method is not registered.
    case unknownMethod
    /// This server never serves the method: `CONNECT`, `TRACE` (V-147).
    case forbiddenMethod
    /// The request has more than a hundred field lines, or its request line and fields have more than 24 KiB (V-140).
    case tooManyFields
    /// Most of a head that is too long is its target (V-140).
    case targetTooLong
    /// The body is longer than the application wants to read (V-141).
    case bodyTooLarge
    /// `Expect` asks for something other than `100-continue` (V-150).
    case expectation
    /// The version of HTTP is not 1.0 or 1.1.
    case version
    /// The application did not answer in time.
    case timeout
    /// More requests wait than the server may hold (V-153).
    case overloaded
    case stopping
    /// One client has as many requests under way as are allowed.
    case tooManyAtOnce
}

extension HTTPFault {
    /// The problem for the client, whose texts are constant, so that no part of the request is repeated.
    package var problem: Problem {
        switch self {
        case .framing:
            Problem(
                400, "request.framing", "The request is not framed as HTTP/1.1 requires",
                "Send either one Content-Length in digits or 'Transfer-Encoding: chunked', single spaces in the "
                    + "request line, and header lines that end with CRLF, unfolded and without control characters.")
        case .repeatedField:
            Problem(
                400, "request.repeated_field", "A header is repeated",
                "Send Host, Content-Length, Content-Type and Transfer-Encoding at most once each.")
        case .host:
            Problem(
                400, "request.host", "The Host header is missing or malformed",
                "Send exactly one Host header with the name and port of this server.")
        case .target:
            Problem(
                400, "request.target", "The request target is not acceptable",
                "Use a path that starts with a slash, with other characters than ASCII percent-encoded as UTF-8, "
                    + "without encoded slashes, '.' and '..' segments, and at most 100 query arguments.")
        case .unknownMethod:
            Problem(
                501, "request.method_unknown", "This method is not known",
                "Use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, in capital letters.")
        case .forbiddenMethod:
            Problem(
                405, "request.method", "This method is not served",
                "Use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.",
                headers: ["Allow": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"])
        case .tooManyFields:
            Problem(
                431, "request.too_many_fields", "There are too many headers, or they are too long",
                "Send at most 100 header lines, of 24 KiB together with the method and the address.")
        case .targetTooLong:
            Problem(
                414, "request.target_too_long", "The address is too long",
                "Send a shorter address: with the method and the headers it may have 24 KiB.")
        case .bodyTooLarge:
            Problem(413, "request.body_too_large", "The body is too large", "Send a shorter body, or several requests.")
        case .expectation:
            Problem(
                417, "request.expectation", "The expectation cannot be met",
                "Leave out the Expect header, or send 'Expect: 100-continue'.")
        case .version:
            Problem(505, "request.version", "This version of HTTP is not supported", "Send the request as HTTP/1.1.")
        case .timeout:
            Problem(
                503, "server.timeout", "The answer took too long",
                "Try again in a few seconds; a change may have been made, so look before you repeat one.",
                headers: ["Retry-After": "5"])
        case .overloaded:
            Problem(
                503, "server.overloaded", "The server is overloaded", "Try again in a second.",
                headers: ["Retry-After": "1"])
        case .stopping:
            Problem(
                503, "server.stopping", "The server is about to stop",
                "Try again in a few seconds; a change may have been made, so look before you repeat one.",
                headers: ["Retry-After": "5"])
        case .tooManyAtOnce:
            Problem(
                429, "request.too_many_at_once", "Too many requests at once",
                "Wait for the answers to your requests before you send more.", headers: ["Retry-After": "1"])
        }
    }

    /// Answers with ``problem``, for a server without texts of its own.
    @Sendable package static func refuse(_ fault: HTTPFault, _ head: RequestHead?) -> Response {
        refuse(fault, head, below: "")
    }

    /// The same, for a server with addresses of old clients, and that a proxy has put below a path.
    package static func refuse(
        _ fault: HTTPFault, _ head: RequestHead?, isOld: Bool = false, below base: String
    ) -> Response {
        var problem = fault.problem
        if fault == .tooManyFields, let name = head?.headers.longestName {
            problem.detail += " The longest header is \(name)."
        }
        var response = problem.response(for: head, isOld: isOld, below: base)
        response.headers.append("X-Content-Type-Options", "nosniff")
        if let head { response.headers.append("X-Request-Id", head.identifier) }
        return response
    }
}

extension HeaderSection {
    /// The name of the longest field line, if clients may be shown it: a token, and not long itself.
    fileprivate var longestName: String? {
        let size = { (line: Line) in line.value.upperBound - line.name.lowerBound }
        guard let longest = lines.max(by: { size($0) < size($1) }),
            longest.name.count <= 64, bytes[longest.name].span.isToken
        else { return nil }
        return String(decoding: bytes[longest.name], as: UTF8.self)
    }
}
