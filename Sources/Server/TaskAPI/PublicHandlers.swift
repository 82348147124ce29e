import Basics
import HTTP
import JSON

/// The handlers of what everyone may read: health, the page's configuration, the page.
struct PublicHandlers: Sendable {
    private let files: [String: PublicFile]
    /// `404.html`, which is shown at any address, so its links begin with the path of this server.
    private let missingPage: PublicFile?
    private let isReady: @Sendable () async -> String?
    private let page: [UInt8]
    private let resource: ProtectedResource

    init(_ configuration: TaskAPIConfiguration) {
        files = configuration.files
        missingPage = files["404.html"].map { page in
            var bytes: [UInt8] = []
            for byte in page.bytes {
                if byte == UInt8(ascii: "/"), bytes.suffix(2).elementsEqual("=\"".utf8) {
                    bytes += configuration.base.utf8
                }
                bytes.append(byte)
            }
            return PublicFile(name: "404.html", bytes: bytes)
        }
        isReady = configuration.readiness
        page = configuration.page.json
        resource = ProtectedResource(configuration)
    }

    func health(_ request: APIRequest) -> HandlerResult { .ready(Response(200, text: "alive\n")) }

    func readiness(_ request: APIRequest) -> HandlerResult {
        .pending { [isReady] () async throws(APIFailure) in
            guard let reason = await isReady() else { return .ready(Response(200, text: "ready\n")) }
            return .ready(Response(503, headers: ["Retry-After": "5"], text: "not ready: \(reason)\n"))
        }
    }

    /// `/config.json`.
    func pageConfiguration(_ request: APIRequest) -> HandlerResult { .ready(Self.json(page)) }

    func hasFile(_ request: APIRequest) -> Bool { files[Self.name(request)] != nil }

    /// A file of `Public/`, by its path below that; `index.html` for the root.
    func file(_ request: APIRequest) throws(APIFailure) -> HandlerResult {
        let name = Self.name(request)
        guard let file = files[name] else { throw .nothingHere }
        var headers: FieldLines = [
            "Content-Type": file.type, "Cache-Control": "no-cache", "ETag": file.entityTag,
        ]
        if file.gzip != nil { headers.append("Vary", "Accept-Encoding") }
        return Representation(bytes: file.bytes, entityTag: file.entityTag, headers: headers, gzip: file.gzip)
            .answer(to: request.head)
    }

    /// The page for a browser about an address that does not exist, which quotes nothing of the request (V-117).
    func missingPage(for request: APIRequest) -> Response? {
        let head = request.head
        guard request.match.route == .file, head.method == .get || head.method == .head,
            !head.headers.contains("Origin"),
            head.headers.preferHTML, let page = missingPage
        else { return nil }
        return Response(404, headers: ["Content-Type": page.type, "Cache-Control": "no-store"], body: page.bytes)
    }

    private static func name(_ request: APIRequest) -> String {
        let name = request.match["file"]
        return name.isEmpty ? "index.html" : name
    }

    func protectedResource(_ request: APIRequest) throws(APIFailure) -> HandlerResult {
        .ready(Self.json(try resource.document(request)))
    }

    private static func json(_ bytes: [UInt8]) -> Response {
        Response(200, headers: ["Content-Type": "application/json", "Cache-Control": "no-cache"], body: bytes)
    }
}

extension PageConfiguration {
    fileprivate var json: [UInt8] {
        let members: JSONValue = [
            "authority": .string(authority), "clientId": .string(clientIdentifier),
            "policies": .array(policies.map { .string($0) }), "scopes": .array(scopes.map { .string($0) }),
        ]
        return members.serialized()
    }
}

/// The metadata of the protected resource, and where they are (RFC 9728, V-121, P-35).
///
/// Clients send their tokens to the address that they read here, so it is the configured one: the sender of `Host`
/// must not choose it. Without a configured address, `Host` may name only this machine.
struct ProtectedResource: Sendable {
    private static let wellKnown = "/.well-known/oauth-protected-resource"
    private static let tasks = "/api/tasks"

    /// The configured address without the slash at its end: scheme and host, and the path after them.
    private let configured: (origin: String, path: String)?
    private let isSecure: Bool
    private let authorizationServers: @Sendable () -> [String]
    private let scopes: [String]

    init(_ configuration: TaskAPIConfiguration) {
        configured = configuration.publicAddress?.originAndPath
        isSecure = configuration.isSecure
        authorizationServers = configuration.authorizationServers
        scopes = configuration.scopes
    }

    /// The parameter of a challenge that leads to the metadata (RFC 9728 sections 3.1, 5.1); nil without a configured
    /// address.
    var challengeParameter: String? {
        configured.map { "resource_metadata=\"\($0.origin)\(Self.wellKnown)\($0.path)\(Self.tasks)\"" }
    }

    /// Returns the document (section 2) for a request below the well-known path.
    ///
    /// It is at the root, for clients that know only the host, and at the path of the resource, with or without the
    /// part that a proxy takes away. Members without a value are left out (section 3.2).
    func document(_ request: APIRequest) throws(APIFailure) -> [UInt8] {
        let path = request.match["resource"]
        let own = configured?.path ?? ""
        guard path.isEmpty || [Self.tasks, own + Self.tasks].contains("/\(path)") else { throw .nothingHere }
        guard let address = configured.map({ $0.origin + $0.path }) ?? loopbackAddress(request.head) else {
            throw .nothingHere
        }
        var members: [(String, JSONValue)] = [
            ("resource", .string(address + Self.tasks)), ("bearer_methods_supported", ["header"]),
        ]
        let issuers = authorizationServers()
        if !issuers.isEmpty { members.append(("authorization_servers", .array(issuers.map { .string($0) }))) }
        if !scopes.isEmpty { members.append(("scopes_supported", .array(scopes.map { .string($0) }))) }
        return JSONValue.object(JSONObject(members)).serialized()
    }

    private func loopbackAddress(_ head: RequestHead) -> String? {
        guard let host = head.headers["Host"], host.isLoopbackHost else { return nil }
        return "\(isSecure ? "https" : "http")://\(host)"
    }
}
