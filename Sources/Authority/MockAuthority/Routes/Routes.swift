import Basics
import HTTP
import OpenSSL

/// Every URL of the authority: the only place where paths are written (docs/reproduced.md, "Addresses").
enum Routes {
    // MARK: After a tenant and a policy, in one of the forms of PolicyURL

    static let metadata = AuthorityRoute<RequestContext>(
        [.get], "v2.0/.well-known/openid-configuration", fault: .metadata
    ) {
        .respond(Response.json($0.provider.metadata(version: 2, $0), headers: $0.provider.documentFields))
    }
    static let keys = AuthorityRoute<RequestContext>([.get], "discovery/v2.0/keys", fault: .keys) {
        .respond(await $0.keySet(version: 2))
    }
    static let authorize = AuthorityRoute<RequestContext>([.get, .post], "oauth2/v2.0/authorize", fault: .authorize) {
        await AuthorizeEndpoint(context: $0).decide()
    }
    static let token = AuthorityRoute<RequestContext>([.post], "oauth2/v2.0/token", fault: .token) {
        TokenEndpoint(context: $0).decide()
    }
    static let logout = AuthorityRoute<RequestContext>([], "oauth2/v2.0/logout") {
        .respond(await LogoutEndpoint(context: $0).respond())
    }
    static let userInfo = AuthorityRoute<RequestContext>([], "openid/v2.0/userinfo") {
        await UserInfoEndpoint(context: $0).decide()
    }
    static let page = AuthorityRoute<RequestContext>([.get, .post], "signin") { PageEndpoint(context: $0).page() }
    static let selfAsserted = AuthorityRoute<RequestContext>([.post], "SelfAsserted") {
        PageEndpoint(context: $0).selfAsserted()
    }
    static let confirmed = AuthorityRoute<RequestContext>([], "api/{api}/confirmed") {
        .respond(await PageEndpoint(context: $0).confirmed())
    }

    static let ofPolicies = [
        metadata, keys, authorize, token, logout, userInfo, page, selfAsserted, confirmed,
    ]

    // MARK: After a tenant of External ID or Entra (docs/reproduced.md, "Addresses")

    static let keysOfVersionOne = AuthorityRoute<RequestContext>([.get], "discovery/keys", fault: .keys) {
        .respond(await $0.keySet(version: 1))
    }
    static let deviceCode = AuthorityRoute<RequestContext>([.post], "oauth2/v2.0/devicecode") {
        DeviceEndpoints(context: $0).begin()
    }
    static let devicePage = AuthorityRoute<RequestContext>([.get, .post], "oauth2/deviceauth") {
        DeviceEndpoints(context: $0).page()
    }

    static let ofEntra =
        [
            metadata, keys, keysOfVersionOne, authorize, deviceCode, devicePage, logout, page,
            AuthorityRoute<RequestContext>([.get], ".well-known/openid-configuration", fault: .metadata) {
                .respond(Response.json($0.provider.metadata(version: 1, $0), headers: $0.provider.documentFields))
            },
            AuthorityRoute<RequestContext>([.get], token.path) { .respond($0.response(.notPosted)) }, token,
        ]

    // MARK: Of the host

    static let ofHost = [
        AuthorityRoute<HostContext>([], "") { .respond($0.welcome) },
        AuthorityRoute<HostContext>([], "favicon.ico") { _ in .respond(Response(204)) },
        AuthorityRoute<HostContext>([], "common/discovery/instance") { .respond($0.instanceDiscovery) },
        // MSAL asks whether the realm of a user is federated, takes a 404 for no, and uses the password grant then.
        AuthorityRoute<HostContext>([], "common/*") { _ in .respond(Response.text("Not found.", status: 404)) },
    ]

    // MARK: Controls, on the loopback only

    static let testToken = AuthorityRoute<HostContext>([.get], "_mock/token") { .respond(await $0.testToken()) }
    static let badTokens = AuthorityRoute<HostContext>([.get], "_mock/token/bad") { .respond($0.badTokens) }
    static let requests = AuthorityRoute<HostContext>([.get], "_mock/requests") { .respond($0.requests) }
    static let keyControl = AuthorityRoute<HostContext>([.get], "_mock/keys") { .respond(await $0.keys()) }

    static let controls = [
        testToken, badTokens, keyControl,
        AuthorityRoute<HostContext>([.post], "_mock/keys") { $0.changeKeys() },
        AuthorityRoute<HostContext>([.put], "_mock/keys") { $0.change($0.restoreKeys) },
        AuthorityRoute<HostContext>([.get], "_mock/users") { .respond($0.users) },
        AuthorityRoute<HostContext>([.put], "_mock/users/{name}") { $0.putUser() },
        AuthorityRoute<HostContext>([.delete], "_mock/users/{name}") { .respond($0.removeUser()) },
        requests,
        AuthorityRoute<HostContext>([.get], "_mock/state") { .respond(Response.json($0.state)) },
        AuthorityRoute<HostContext>([.post], "_mock/faults") { $0.change($0.addFault) },
        AuthorityRoute<HostContext>([.delete], "_mock/faults") { .respond($0.removeFaults()) },
        AuthorityRoute<HostContext>([.post], "_mock/clock") { $0.change($0.setClock) },
        AuthorityRoute<HostContext>([.post], "_mock/revoke") { $0.change($0.revoke) },
        AuthorityRoute<HostContext>([.post], "_mock/reset") { .respond($0.reset()) },
    ]

    // MARK: The developer page, for which the rules of the controls hold

    static let developerPage = AuthorityRoute<HostContext>([.get], "_mock") { _ in .respond(HostContext.developerPage) }

    static let ofDeveloperPage = [
        developerPage,
        AuthorityRoute<HostContext>([.get], "_mock/page.css") { _ in .respond(HostContext.developerStyle) },
        AuthorityRoute<HostContext>([.get], "_mock/page.js") { _ in .respond(HostContext.developerScript) },
        AuthorityRoute<HostContext>([.get], "_mock/live") { .respond($0.live) },
        AuthorityRoute<HostContext>([.get], "_mock/registration") { .respond($0.registration) },
    ]
}

extension MockAuthority {
    /// Paths of the route table that the program prints or requests.
    package enum Path {
        package static let token = Routes.token.path
        package static let authorize = Routes.authorize.path
        package static let testToken = "/" + Routes.testToken.path
        package static let badTokens = "/" + Routes.badTokens.path
    }
}

/// One row of the route table.
struct AuthorityRoute<Context: Sendable>: Sendable {
    /// The path without a slash at its start.
    ///
    /// A segment in braces matches any one segment, `*` at the end any number.
    let path: String
    /// The methods that are answered, where `GET` stands for `HEAD` too; all of them if the list is empty.
    let methods: [Method]
    /// The name under which faults are set at this endpoint; `nil` where none can be.
    let fault: Fault.Endpoint?
    let handle: @Sendable (Context) async -> Decision
    private let pattern: [String]

    init(
        _ methods: [Method], _ path: String, fault: Fault.Endpoint? = nil,
        handle: @escaping @Sendable (Context) async -> Decision
    ) {
        self.methods = methods
        self.path = path
        self.fault = fault
        self.handle = handle
        pattern = path.lowercased().split(separator: "/").map(String.init)
    }

    func allows(_ method: Method) -> Bool { methods.isEmpty || methods.contains(method == .head ? .get : method) }

    /// Whether the path is that of these segments, in any case.
    func matches(_ segments: some Collection<String>) -> Bool {
        var rest = segments[...]
        for part in pattern {
            if part == "*" { return true }
            guard let segment = rest.popFirst(), part.hasPrefix("{") || segment.lowercased().isSame(as: part) else {
                return false
            }
        }
        return rest.isEmpty
    }
}

extension Array {
    /// The row for a method, or the 405 of these rows, which share a path.
    func decide<Context>(_ method: Method, _ context: Context) async -> Decision
    where Element == AuthorityRoute<Context> {
        if let route = first(where: { $0.allows(method) }) { return await route.handle(context) }
        return .respond(Response.methodNotAllowed(flatMap(\.methods).map(\.name).joined(separator: ", ")))
    }
}

extension RequestContext {
    /// The key set (RFC 7517 section 5).
    fileprivate func keySet(version: Int) async -> Response {
        await Response.json(headers: provider.documentFields) { () throws(PrivateKeyError) in
            try await provider.keySet(version: version, self)
        }
    }
}
