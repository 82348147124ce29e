import Basics
package import JSON

extension MockAuthority {
    /// What a test needs to use the authority at these addresses; a token of the first tenant then waits for no key.
    ///
    /// The members of the first tenant are also those of the whole.
    package func readyLine(at addresses: [String], authorityFile: String?) async -> JSONValue {
        _ = try? await b2c.keys.current()
        let address = addresses.first ?? ""
        let base = configuration.publicOrigin ?? address
        let tenants = self.tenants.map { $0.configuration.ready(at: base) }
        var line: JSONObject = [
            "version": .string(programVersion), "address": .string(address),
            "addresses": .array(addresses.map { .string($0) }), "controls": .string("\(address)/_mock"),
            "ca": authorityFile.map { .string($0) } ?? .null,
        ]
        line.replace(by: tenants[0])
        line["tenants"] = .array(tenants.map { .object($0) })
        return .object(line)
    }
}

extension Configuration {
    /// The policy where none is named: the first for signing in.
    package var firstPolicy: Policy? {
        policies.first { $0.kind == .signIn || $0.kind == .signUpOrSignIn } ?? policies.first
    }

    /// The path of a policy's endpoints, below which its documents are.
    func path(of policy: Policy) -> String {
        policy.name.isEmpty ? "/\(tenant.id)" : "/\(tenant.name)/\(policy.name.lowercased())"
    }

    /// The address of a policy's discovery document.
    package func metadataAddress(of policy: Policy, at base: String) -> String {
        "\(base)\(path(of: policy))/\(Routes.metadata.path)"
    }

    fileprivate func ready(at base: String) -> JSONObject {
        let policy = firstPolicy ?? Policy("", kind: .signIn)
        let start = "\(base)\(path(of: policy))"
        let keys = profile == .strict ? Routes.keys.belowIssuer : Routes.keys
        return [
            "profile": .string(profile.rawValue), "tenant": .string(tenant.name), "tenantID": .string(tenant.id),
            "issuer": .string(provider.issuer(of: policy, at: base)),
            "metadata": .string(metadataAddress(of: policy, at: base)), "keys": .string("\(start)/\(keys.path)"),
            "users": .array(users.map(\.json)), "clients": .array(applications.clients.map(\.json)),
            "resources": .array(applications.resources.map(\.json)),
        ]
    }
}
