import MockAuthority
import Platform
import Settings

/// Returns the configuration of the settings and their file, for an authority that listens at this address.
///
/// The port of https is the one that the system chose, if it is given, or else the one in the settings.
func configuration(
    _ settings: MockSettings, _ address: ListenAddress, securePort: UInt16? = nil
) -> Configuration {
    // No client can connect to 0.0.0.0, so an authority on all addresses is called localhost, or by --issuer.
    let base = "http://\(address.called)"
    var configuration = settings.files.configuration.map { read($0, base) } ?? .standard(issuerBase: base)
    if let issuer = settings.network.issuer { configuration.issuerBase = issuer.withoutSlash }
    if let mode = settings.network.issuerMode {
        for index in configuration.policies.indices { configuration.policies[index].issuer = mode }
    }
    configuration.behaviour = settings.behaviour
    configuration.behaviour.switches.remoteControl = settings.network.allowRemote
    configuration.moreHostNames = settings.tls.names
    let securePort = securePort ?? settings.tls.listen.first?.port
    configuration.clientSettings = shownClientSettings(settings, configuration, securePort)
    return configuration
}

private func read(_ path: String, _ issuerBase: String) -> Configuration {
    let bytes: [UInt8]
    do throws(SystemError) {
        bytes = try File.read(path)
    } catch {
        fail(["\(error)"], .badSettings)
    }
    do throws(InputError) {
        return try Configuration(parsing: bytes, issuerBase: issuerBase)
    } catch {
        fail(["\(path): \(error.message)"], .badSettings)
    }
}

extension ListenAddress {
    /// The host and port as a client on this machine writes them.
    var called: String {
        ["0.0.0.0", "::"].contains(host) ? "localhost:\(port)" : "\(self)"
    }
}

extension String {
    fileprivate var withoutSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
