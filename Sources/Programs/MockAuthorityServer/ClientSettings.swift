import Basics
import MockAuthority
import Settings

/// A kind of client, of which ClientSettings/templates.txt has the file as the client's project has it.
struct ClientKind: RawRepresentable, CaseIterable, Sendable {
    let rawValue: String
    /// The file, with `@name@` in the place of each value of ``ClientSettings``.
    fileprivate let template: String

    init?(rawValue: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = known
    }

    private init(_ section: Substring) {
        let end = section.firstIndex(of: "\n") ?? section.endIndex
        rawValue = String(section[..<end])
        template = String(section[end...].dropFirst())
    }

    static let allCases = "\n\(String(decoding: PackageResources.templates_txt.dropLast(), as: UTF8.self))"
        .split(separator: "\n=== ").map(ClientKind.init)
}

/// The settings with which a client talks to this authority and to a task-server.
struct ClientSettings {
    let configuration: Configuration
    let base: String
    let tasks: String
    /// The certificate of the authority's https; `nil` if the base is http, or that of a proxy.
    let authorityFile: String?

    func text(for kind: ClientKind) -> String {
        let values = values.merging(externalValues) { value, _ in value }
        let isXML = kind.template.hasPrefix("<?xml")
        let pieces = kind.template.split(separator: "@", omittingEmptySubsequences: false)
        return pieces.enumerated().map { index, piece in
            guard index % 2 == 1 else { return String(piece) }
            guard let value = values[String(piece)] else { return "@\(piece)@" }
            return isXML ? value.escapedForMarkup : value
        }.joined()
    }

    private var values: [String: String] {
        let clients = configuration.applications.clients
        let client = clients.first?.id ?? ""
        let confidential = clients.first { $0.secret != nil }
        let resource = configuration.applications.resources.first
        let scopes = resource?.fullScopes ?? []
        let certificate = "the certificate of \(secureHost)"
        let trusted = authorityFile ?? (isSecure ? certificate : "state/mock/ca.pem")
        let entra = configuration.entraTenants.first { $0.profile == .entra }
        let start = isSecure ? "" : "start with MOCK_TLS_LISTEN=127.0.0.1:8443 make run, and "
        return [
            "base": base, "baseInEmulator": base.inEmulator, "secureBase": secureBase, "tasks": tasks,
            "tasksInEmulator": tasks.inEmulator, "authorize": MockAuthority.Path.authorize,
            "token": MockAuthority.Path.token, "testToken": MockAuthority.Path.testToken,
            "tenant": configuration.tenant.name, "tenantID": configuration.tenant.id, "client": client,
            "audience": resource?.audience ?? client, "https": base.hasPrefix("https:") ? "true" : "false",
            "metadata": configuration.firstPolicy.map { configuration.metadataAddress(of: $0, at: base) } ?? "",
            "entra": entra?.tenant.id ?? "", "entraAPI": entra?.applications.resources.first?.audience ?? "",
            // ADAL compares the client id with the scopes after it made those lower case.
            "clientInLowerCase": client.lowercased(), "confidential": confidential?.id ?? client,
            "secret": confidential?.secret ?? "", "scope": scopes.first ?? client,
            "scopes": (scopes.isEmpty ? [client] : scopes).quoted, "redirectOfPage": redirectOfPage(clients.first),
            "redirectOfAndroid": redirect(clients.first, "msauth://"),
            "redirectOfIOS": redirect(clients.first, "msauth.com"),
            "secureBaseInEmulator": secureBase.inEmulator,
            "secureHost": secureHost, "startSecure": start, "trusted": trusted,
            "user": configuration.users.first?.email ?? "alice@example.com",
            "policies": configuration.policies.map(\.name).joined(separator: ","), "signUp": policy(.signUp),
            "signIn": policy(.signIn), "facebook": policy(.facebook), "editProfile": policy(.editProfile),
            "trust": "\(start)trust \(trusted)\(trusted == certificate ? "" : " (REQUESTS_CA_BUNDLE=\(trusted))").",
            "caFile": authorityFile.map { "TASKS_CA_FILE=\($0)\n" } ?? "",
        ]
    }

    /// The values for a current MSAL at the External ID tenant.
    private var externalValues: [String: String] {
        guard let external = configuration.externalTenant else { return [:] }
        let (id, client) = (external.tenant.id, external.applications.clients.first)
        let resource = external.applications.resources.first
        let (host, port) = (configuration.hostNames.first ?? "", WebAddress(secureBase)?.port ?? 443)
        // MSAL.js knows External ID by the name of its host alone, so any port but 443 needs `knownAuthorities`.
        let isOwn = WebAddress(secureBase)?.isLoopback ?? false
        let (page, known) = port == 443 && isOwn ? ("https://\(host)/", host) : ("\(secureBase)/\(id)", secureHost)
        return [
            "externalID": id, "externalTenant": external.tenant.name, "externalClient": client?.id ?? "",
            "externalHost": port == 443 ? host : "\(host):\(port)", "externalPort": "\(port)",
            "externalHosts": configuration.hostNames.joined(separator: " "),
            "externalScopes": (resource?.fullScopes ?? []).quoted, "authorityOfPage": page,
            "knownAuthorities": [known, "\(id).ciamlogin.com"].quoted,
            "redirectOfExternalPage": redirectOfPage(client),
            "redirectOfExternalAndroid": redirect(client, "msauth://"),
            "redirectOfExternalIOS": redirect(client, "msauth.com"),
            "externalTrust": authorityFile.map { "trust \($0)" }
                ?? (isSecure
                    ? "trust the certificate of \(secureHost)"
                    : "start the mock with --tls-listen and --state, and trust its ca.pem")
                ,
        ]
    }

    /// The authority's scheme, host and port by https, for clients that take no other; an example if it serves none.
    private var secureBase: String { isSecure ? base : "https://localhost:8443" }

    private var isSecure: Bool { base.hasPrefix("https:") }

    /// The host of ``secureBase``, with the port unless it is 443.
    private var secureHost: String { String(secureBase.dropFirst("https://".count)) }

    /// The registered redirect URI of a page.
    ///
    /// `http://localhost` is registered for every port and path, so those of an example are added.
    private func redirectOfPage(_ client: Client?) -> String {
        let uri = client?.redirectURIs.first { $0.hasPrefix("http") } ?? "http://localhost"
        return uri == "http://localhost" ? "http://localhost:5173/redirect.html" : uri
    }

    private func redirect(_ client: Client?, _ start: String) -> String {
        client?.redirectURIs.first { $0.hasPrefix(start) } ?? start
    }

    private func policy(_ kind: Policy.Kind) -> String {
        let policies = configuration.policies
        let named =
            policies.first { $0.kind == kind } ?? policies.first { $0.kind == .signUpOrSignIn } ?? policies.first
        return named?.name ?? ""
    }
}

extension [String] {
    fileprivate var quoted: String { map { "\"\($0)\"" }.joined(separator: ", ") }
}

extension String {
    /// The URL as the Android emulator has to write it, where this machine's loopback is 10.0.2.2.
    fileprivate var inEmulator: String {
        guard let address = WebAddress(self), address.isLoopback else { return self }
        let origin = "\(address.isEncrypted ? "https" : "http")://10.0.2.2:\(address.port)"
        return ([origin] + address.path).joined(separator: "/")
    }
}
