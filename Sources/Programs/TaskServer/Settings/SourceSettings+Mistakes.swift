import Basics
import Tokens

// The mistakes in the settings of one source.

extension ProviderSettings {
    /// Settings that contradict each other, whatever the program is asked to do; `setting` names a variable.
    func mistakes(_ setting: (String) -> String) -> [String] {
        var mistakes = insecureAddresses(setting)
        if address != nil, !metadata.isEmpty {
            mistakes.append(
                "\(setting("AUTHORITY")) and \(setting("METADATA_URL")) are both set; set the one that you mean.")
        }
        if address == nil, !policies.isEmpty {
            mistakes.append(
                "\(setting("POLICIES")) is set without \(setting("AUTHORITY")), whose policies they are.")
        }
        if let address, !policies.isEmpty, ProviderKind(host: address.host) == .externalID {
            mistakes.append(
                "\(setting("POLICIES")): Entra External ID has no policies; its user flows belong to applications. "
                    + "Remove the setting.")
        }
        return mistakes
    }

    private func insecureAddresses(_ setting: (String) -> String) -> [String] {
        let all = (address.map { [("AUTHORITY", $0)] } ?? []) + metadata.map { ("METADATA_URL", $0) }
        return all.compactMap { name, url in
            guard !url.isEncrypted, !url.isLoopback, !allowHTTP else { return nil }
            return
                "\(setting(name)): http://\(url.host) can be read and changed on the network path; use https://, or set "
                + "\(setting("ALLOW_HTTP_AUTHORITY"))=true if the network in between is yours alone."
        }
    }
}

extension SourceSettings {
    /// The settings that a source needs and does not have.
    var whatIsMissing: [String] {
        var missing: [String] = []
        if provider.isAbsent {
            missing.append(
                "\(setting("AUTHORITY")) is not set. Example: \(setting("AUTHORITY"))=https://contoso.b2clogin.com/"
                    + "contoso.onmicrosoft.com (or \(setting("METADATA_URL")) for a provider other than Microsoft)")
        }
        if provider.address != nil, provider.policies.isEmpty, provider.kind == .b2c {
            missing.append(
                "\(setting("POLICIES")) is not set. Example: \(setting("POLICIES"))=b2c_1_sign_up,b2c_1_sign_in")
        }
        if claims.clientIdentifiers.isEmpty {
            missing.append(
                "\(setting("CLIENT_ID")) is not set: the application id that tokens must be issued for. Example: "
                    + "\(setting("CLIENT_ID"))=580e250c-8f26-49d0-bee8-1c078add1609")
        }
        return missing
    }

    /// The settings with which tokens could not be trusted.
    var whatIsUnsafe: [String] { tenantMistakes + documentMistakes }

    /// An authority of many tenants serves a list of them (P-5), whose people have owners of both claims (P-16).
    private var tenantMistakes: [String] {
        let isTemplate = provider.issuer.map(IssuerTenant.isTemplate) ?? false
        var mistakes: [String] = []
        if provider.isOfManyTenants || isTemplate, provider.tenants.isEmpty {
            mistakes.append(
                "\(setting("TENANTS")) is not set, and the authority is for many tenants: list the ids of those that may use "
                    + "this API, or * if every one may.")
        }
        if !provider.tenants.isEmpty, provider.kind != .other, !provider.isOfManyTenants, !isTemplate {
            mistakes.append(
                "\(setting("TENANTS")) is set, but the authority is for one tenant; remove the setting, or name the authority "
                    + "https://login.microsoftonline.com/organizations.")
        }
        if !provider.tenants.isEmpty, claims.ownerClaim == "oid" {
            mistakes.append(
                "\(setting("OWNER_CLAIM")): oid identifies a person only within one tenant; with several, use tid+oid.")
        }
        return mistakes
    }

    /// Why these metadata documents cannot be trusted together, as far as their addresses show it.
    ///
    /// Within a source, owners and audiences are not distinguished by issuer, so a second provider could speak for the
    /// people of the first. What only the documents show is refused when they are loaded.
    private var documentMistakes: [String] {
        let name = setting("METADATA_URL")
        let locations = provider.metadata.map { ($0.text, MetadataLocation($0.text)) }
        var mistakes: [String] = []
        for (text, location) in locations {
            guard let location else {
                mistakes.append("\(name): \(text) is not a plain web address.")
                continue
            }
            if location.namesSeveralPolicies {
                mistakes.append("\(name): \(text) names two policies; name one, in the path or as ?p=.")
            }
            if location.lacksPolicy {
                mistakes.append(
                    "\(name): \(text) is of Azure AD B2C and names no policy, so no policy can be demanded of "
                        + "tokens; set \(setting("AUTHORITY")) and \(setting("POLICIES")) instead.")
            }
        }
        guard let (first, provider) = locations.first, let provider else { return mistakes }
        for (text, location) in locations.dropFirst() where !(location?.isSameProvider(as: provider) ?? true) {
            mistakes.append(
                "\(name): \(first) and \(text) are of two providers or tenants. People whose "
                    + "\(setting("OWNER_CLAIM")) has the same value at both would share their tasks, and each could issue tokens "
                    + "for the other's people. Make each a source of its own (TASKS_SOURCES).")
        }
        return mistakes
    }
}
