internal import MockAuthority
internal import Platform
internal import Settings

/// What the settings and their file make, for an authority that listens there.
func configuration(_ settings: MockSettings, _ address: ListenAddress) -> Configuration {
    // Nobody can call 0.0.0.0: who listens everywhere is reached as localhost, or says --issuer.
    let base = "http://\(address.called)"
    var configuration = settings.files.configuration.map { read($0, base) } ?? Configuration(issuerBase: base)
    if let issuer = settings.network.issuer { configuration.issuerBase = issuer.withoutSlash }
    if let mode = settings.network.issuerMode {
        for index in configuration.policies.indices { configuration.policies[index].issuer = mode }
    }
    configuration.behaviour = settings.behaviour
    configuration.behaviour.switches.remoteControl = settings.network.allowRemote
    return configuration
}

private func read(_ path: String, _ issuerBase: String) -> Configuration {
    let bytes: [UInt8]
    do throws(SystemError) {
        bytes = try File.read(path)
    } catch {
        fail(["\(error)"], .badSettings)
    }
    do throws(ConfigurationError) {
        return try Configuration(parsing: bytes, issuerBase: issuerBase)
    } catch {
        fail(["\(path): \(error.message)"], .badSettings)
    }
}

extension ListenAddress {
    /// Host and port as a client on this machine writes them.
    var called: String {
        ["0.0.0.0", "::"].contains(host) ? "localhost:\(port)" : "\(self)"
    }
}

extension String {
    fileprivate var withoutSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
