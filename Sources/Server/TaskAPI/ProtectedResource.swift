import Basics
import HTTP
import JSON

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
