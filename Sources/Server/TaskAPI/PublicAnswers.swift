import HTTP
import JSON

/// What everybody may see: health, the page's configuration, the page.
struct PublicAnswers: Sendable {
    private let files: [String: PublicFile]
    private let readiness: @Sendable () async -> String?
    private let page: [UInt8]
    private let resource: PageConfiguration
    private let scopes: [String]
    private let publicAddress: String?
    private let isSecure: Bool

    init(_ configuration: TaskAPIConfiguration) {
        files = configuration.files
        readiness = configuration.readiness
        page = configuration.page.json
        resource = configuration.page
        publicAddress = configuration.publicAddress
        isSecure = configuration.isSecure
        scopes = [configuration.readScope, configuration.writeScope].compactMap(\.self)
    }

    /// The answer to a request for anything public; nothing if it is to be found out, see ``answerOnReadiness()``.
    func answer(_ head: RequestHead, _ route: Route) throws(APIFailure) -> Response? {
        guard head.method == .get || head.method == .head else {
            if case .file(let name) = route, files[name] == nil { throw .nothingHere }
            throw .methodNotAllowed(route.methods)
        }
        switch route {
        case .health: return Self.text(200, "alive\n")
        case .readiness: return nil
        case .pageConfiguration: return Self.json(page)
        case .protectedResource: return Self.json(try protectedResource(head))
        case .file(let name): return try file(name, head)
        case .tasks, .task, .tasksOfNamedOwner, .taskByText, .me, .unknownBelowAPI: throw .nothingHere
        }
    }

    /// `/readyz`.
    func answerOnReadiness() async -> Response {
        guard let reason = await readiness() else { return Self.text(200, "ready\n") }
        var answer = Self.text(503, "not ready: \(reason)\n")
        answer.headers.append("Retry-After", "5")
        return answer
    }

    private func file(_ name: String, _ head: RequestHead) throws(APIFailure) -> Response {
        guard let file = files[name] else { throw .nothingHere }
        let headers = HeaderFields([
            HeaderFields.Field(name: "Content-Type", value: file.type),
            HeaderFields.Field(name: "Cache-Control", value: "no-cache"),
            HeaderFields.Field(name: "ETag", value: file.entityTag),
        ])
        guard !head.knows(file.entityTag) else {
            return Response(304, headers: headers)
        }
        return Response(200, headers: headers, body: file.bytes)
    }

    /// RFC 9728 section 2.
    ///
    /// The resource has the configured address; without one, only this machine is taken from `Host`. Clients send their
    /// tokens to the address that they read here, and whoever chooses `Host` must not choose that.
    private func protectedResource(_ head: RequestHead) throws(APIFailure) -> [UInt8] {
        guard let address = publicAddress ?? loopbackAddress(head) else { throw .nothingHere }
        var members: [(String, JSONValue)] = [
            ("resource", .string("\(address)/api/tasks")),
            ("bearer_methods_supported", ["header"]),
        ]
        if !resource.authorizationServers.isEmpty {
            members.append(("authorization_servers", .array(resource.authorizationServers.map { .string($0) })))
        }
        if !scopes.isEmpty { members.append(("scopes_supported", .array(scopes.map { .string($0) }))) }
        return JSONValue.object(JSONObject(members)).serialized()
    }

    private func loopbackAddress(_ head: RequestHead) -> String? {
        guard let host = head.headers["Host"], host.isLoopbackHost else { return nil }
        return "\(isSecure ? "https" : "http")://\(host)"
    }

    private static func text(_ status: Status, _ text: String) -> Response {
        Response(
            status, headers: ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"],
            body: Array(text.utf8))
    }

    private static func json(_ bytes: [UInt8]) -> Response {
        Response(200, headers: ["Content-Type": "application/json", "Cache-Control": "no-cache"], body: bytes)
    }
}

extension PageConfiguration {
    /// `/config.json`.
    fileprivate var json: [UInt8] {
        let members: JSONValue = [
            "authority": .string(authority), "clientId": .string(clientIdentifier),
            "policies": .array(policies.map { .string($0) }), "scopes": .array(scopes.map { .string($0) }),
        ]
        return members.serialized()
    }
}
