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
            guard let reason = await isReady() else { return Response(200, text: "ready\n") }
            return Response(503, headers: ["Retry-After": "5"], text: "not ready: \(reason)\n")
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

    /// See ``ProtectedResource``.
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
