import Basics
import Curl
import MockAuthority
import Platform
import Settings

/// Returns the configuration of the settings and their file, for an authority that listens at this address.
///
/// The address of https is that of the settings, unless another is given: one with the port that the system chose.
func configuration(
    _ settings: MockSettings, _ address: ListenAddress, secure: ListenAddress? = nil
) throws(OperatorError) -> Configuration {
    let secureBase = (secure ?? settings.tls.listen.first)?.secureBase
    // No client can connect to 0.0.0.0: an authority that listens on all addresses is localhost, or what --issuer says.
    // Current clients of Microsoft take https only, and an issuer of the authority's own origin only.
    let publicOrigin = settings.network.publicURL?.origin
    let base = publicOrigin ?? secureBase ?? "http://\(address.called)"
    var configuration =
        try settings.configurationFile.map { (path) throws(OperatorError) in
            try read(path, base)
        } ?? .standard(issuerBase: base)
    if let issuer = settings.network.issuer { configuration.issuerBase = issuer.withoutSlash }
    if let mode = settings.network.issuerMode {
        for index in configuration.policies.indices { configuration.policies[index].issuer = mode }
    }
    configuration.play(settings.persona)
    configuration.behaviour = settings.behaviour
    configuration.behaviour.remoteControl = settings.network.allowRemote
    configuration.moreHostNames = settings.tls.names
    configuration.publicOrigin = publicOrigin
    configuration.trustedProxies = settings.network.trustedProxies
    configuration.fetch = { url in
        (try? HTTPFetcher().fetch(FetchRequest(url: url, allowHTTP: true)))?.body
    }
    configuration.clientSettings = shownClientSettings(settings, configuration, secureBase)
    return configuration
}

/// The settings of every kind of client, for the address under which somebody reaches the mock.
///
/// If the mock serves https, the settings name https, since current clients insist on it.
private func shownClientSettings(
    _ settings: MockSettings, _ configuration: Configuration, _ secure: String?
) -> @Sendable (String) -> [(kind: String, text: String)] {
    // A proxy shows a certificate of its own.
    let isProxied = configuration.publicOrigin != nil
    let authorityFile = secure.flatMap { _ in isProxied ? nil : settings.state.map { "\($0)/ca.pem" } }
    let tasks = settings.tasks
    // The other kinds are clients of Microsoft's services.
    let kinds = ClientKind.allCases.filter { configuration.profile == .b2c || $0.rawValue == "curl" }
    return { base in
        let client = ClientSettings(
            configuration: configuration, base: configuration.publicOrigin ?? secure ?? base, tasks: tasks,
            authorityFile: authorityFile)
        return kinds.map { (kind: $0.rawValue, text: client.text(for: $0)) }
    }
}

private func read(_ path: String, _ issuerBase: String) throws(OperatorError) -> Configuration {
    let bytes = try rethrowing(as: { OperatorError("\($0)", .badSettings) }) { () throws(SystemError) in
        try File.read(path)
    }
    return try rethrowing(as: { OperatorError("\(path): \($0.message)", .badSettings) }) { () throws(InputError) in
        try Configuration(parsing: bytes, issuerBase: issuerBase)
    }
}

extension ListenAddress {
    /// The host and port as a client on this machine writes them.
    var called: String { ["0.0.0.0", "::"].contains(host) ? "localhost:\(port)" : "\(self)" }

    /// Whether clients write the address itself, and not `localhost`.
    var isNamedByAddress: Bool { !["127.0.0.1", "::1", "0.0.0.0", "::"].contains(host) }

    /// The origin of the https at this address, as a client writes it.
    var secureBase: String {
        let called = isNamedByAddress ? "\(self)" : "localhost:\(port)"
        return "https://\(called.hasSuffix(":443") ? String(called.dropLast(4)) : called)"
    }
}

extension String {
    fileprivate var withoutSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
