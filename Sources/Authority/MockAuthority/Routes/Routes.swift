import Basics
import HTTP
import OpenSSL

/// Every URL of the authority: the only place where paths are written (docs/reproduced.md, "Addresses").
enum Routes {
    typealias Row = AuthorityRoute<RequestContext>
    typealias HostRow = AuthorityRoute<HostContext>

    // MARK: After a tenant, or a tenant and a policy

    static let metadata = Row([.get], "v2.0/.well-known/openid-configuration", fault: .metadata) {
        .respond($0.metadata(version: 2))
    }
    static let keys = Row([.get], "discovery/v2.0/keys", fault: .keys) { .respond(await $0.keySet(version: 2)) }
    static let authorize = Row([.get, .post], "oauth2/v2.0/authorize", fault: .authorize) { await $0.authorize() }
    static let token = Row([.post], "oauth2/v2.0/token", fault: .token) { $0.tokens() }
    static let logout = Row([], "oauth2/v2.0/logout") { .respond(await $0.logout()) }
    static let userInfo = Row([], "openid/v2.0/userinfo") { await $0.userInfo() }
    static let page = Row([.get, .post], "signin") { $0.page() }
    static let selfAsserted = Row([.post], "SelfAsserted") { $0.selfAsserted() }
    static let confirmed = Row([], "api/{api}/confirmed") { .respond(await $0.confirmed()) }
    static let keysOfVersionOne = Row([.get], "discovery/keys", fault: .keys) { .respond(await $0.keySet(version: 1)) }
    static let deviceCode = Row([.post], "oauth2/v2.0/devicecode") { $0.beginDevice() }
    static let devicePage = Row([.get, .post], "oauth2/deviceauth") { $0.devicePage() }

    /// The endpoints of a policy of B2C or of a strict provider.
    static let ofPolicies = [metadata, keys, authorize, token, logout, userInfo, page, selfAsserted, confirmed]

    /// The endpoints of a strict provider: also those of policies below the issuer, as Duende's libraries demand.
    static let ofStrict = ofPolicies + [authorize, token, keys, logout, userInfo].map(\.belowIssuer)

    static let userInfoOfGraph = Row([.get, .post], "oidc/userinfo", ) { .respond(await $0.graph(.userInfo)) }

    static let ofEntra =
        [
            metadata, userInfoOfGraph, keys, keysOfVersionOne, authorize, deviceCode, devicePage, logout, page,
            Row([.get], ".well-known/openid-configuration", fault: .metadata) { .respond($0.metadata(version: 1)) },
            Row([.get], "adminconsent") { .respond(await $0.authorization(adminConsent: 1)) },
            Row([.get], "v2.0/adminconsent") { .respond(await $0.authorization(adminConsent: 2)) },
            Row([.get], token.path) { .respond($0.provider.response(Refusal(.notPosted), $0)) }, token,
        ]

    // MARK: Of the host

    static let ofHost = [
        HostRow([], "") { .respond($0.welcome) },
        HostRow([], "favicon.ico") { _ in .respond(Response(204)) },
        HostRow([], "common/discovery/instance") { .respond($0.instanceDiscovery) },
        HostRow([.get], "common/userrealm/{name}") { .respond($0.userRealm) },
    ]

    // MARK: Of Microsoft Graph, at every host

    static let ofGraph = [
        graph([.get, .post], "oidc/userinfo", .userInfo), graph([.get], "v1.0/me", .me),
        graph([.get], "v1.0/me/photo/*", .photo), graph([.get], "v1.0/me/photos/*", .photo),
        graph([.get], "v1.0/me/memberOf", .groups), graph([.post], "v1.0/me/getMemberObjects", .groupIDs),
        graph([.post], "v1.0/users/{id}/getMemberObjects", .groupIDs),
    ]

    private static func graph(_ methods: [Method], _ path: String, _ resource: GraphCall.Resource) -> HostRow {
        HostRow(methods + [.options], path) { .respond(await $0.graph(resource)) }
    }

    // MARK: Controls, on the loopback only

    static let testToken = HostRow([.get], "_mock/token") { .respond(await Response.answering($0.testToken)) }
    static let badTokens = HostRow([.get], "_mock/token/bad") { .respond($0.badTokens) }
    static let requests = HostRow([.get], "_mock/requests") { .respond($0.requests) }
    static let keyControl = HostRow([.get], "_mock/keys") { .respond(await Response.answering($0.listKeys)) }

    static let controls = [
        testToken, badTokens, keyControl,
        HostRow([.post], "_mock/keys") { $0.change($0.changeKeys) },
        HostRow([.put], "_mock/keys") { $0.change($0.restoreKeys) },
        HostRow([.get], "_mock/users") { .respond($0.users) },
        HostRow([.put], "_mock/users/{name}") { $0.putUser() },
        HostRow([.delete], "_mock/users/{name}") { .respond(await Response.answering($0.removeUser)) },
        requests,
        HostRow([.get], "_mock/state") { .respond(Response.json($0.state)) },
        HostRow([.post], "_mock/faults") { $0.change($0.addFault) },
        HostRow([.delete], "_mock/faults") { .respond($0.removeFaults()) },
        HostRow([.post], "_mock/clock") { $0.change($0.setClock) },
        HostRow([.post], "_mock/revoke") { $0.change($0.revoke) },
        HostRow([.post], "_mock/challenge") { $0.change($0.challenge) },
        HostRow([.post], "_mock/reset") { .respond($0.reset()) },
    ]

    // MARK: The developer page, for which the rules of the controls hold

    static let developerPage = HostRow([.get], "_mock") { _ in .respond(HostContext.developerPage) }

    static let ofDeveloperPage = [
        developerPage,
        HostRow([.get], "_mock/page.css") { _ in .respond(HostContext.developerStyle) },
        HostRow([.get], "_mock/page.js") { _ in .respond(HostContext.developerScript) },
        HostRow([.get], "_mock/live") { .respond($0.live) },
        HostRow([.get], "_mock/registration") { .respond($0.registration) },
    ]
}

extension MockAuthority {
    package enum Path {
        package static let token = Routes.token.path
        package static let authorize = Routes.authorize.path
        package static let testToken = "/" + Routes.testToken.path
        package static let badTokens = "/" + Routes.badTokens.path
    }
}

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

    /// The same endpoint below the issuer of a strict provider, whose path ends with `v2.0`.
    var belowIssuer: AuthorityRoute {
        AuthorityRoute(methods, "v2.0/" + path.replacing("v2.0/", with: ""), fault: fault, handle: handle)
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
        let allowed = flatMap(\.methods).map(\.name).joined(separator: ", ")
        var refusal = Response.text("This endpoint answers \(allowed) only.", status: 405)
        refusal.headers.append("Allow", allowed)
        return .respond(refusal)
    }
}

extension RequestContext {
    fileprivate func metadata(version: Int) -> Response {
        Response.json(provider.metadata(version: version, self), headers: provider.documentFields)
    }

    /// The key set (RFC 7517 section 5).
    fileprivate func keySet(version: Int) async -> Response {
        await Response.answering { () throws(InputError) in
            let set = try await InputError.needingKeys { () throws(PrivateKeyError) in
                try await provider.keySet(version: version, self)
            }
            return Response.json(set, headers: provider.documentFields)
        }
    }
}
