import Basics
import Settings
import Tokens

/// The issuers whose tokens are accepted.
struct AuthoritySettings: Sendable {
    let address: WebAddress?
    let policies: [String]
    let metadata: [WebAddress]
    let issuer: String?
    let clientIdentifiers: [String]
    let certificates: String?
    let allowHTTP: Bool
    let pageAddress: WebAddress?

    init(reading reader: inout SettingReader) {
        address = reader.optional(
            "AUTHORITY", .webAddress(example: "https://contoso.b2clogin.com/contoso.onmicrosoft.com"),
            help: "The B2C tenant, such as https://contoso.b2clogin.com/contoso.onmicrosoft.com.")
        policies = reader.list("POLICIES", .policy, help: "The policies (user flows) whose tokens are accepted.")
        metadata = reader.list(
            "METADATA_URL", .webAddress(example: "https://id.example.com/.well-known/openid-configuration"),
            help: "OpenID metadata, instead of the authority and its policies, for any other provider. "
                + "Several only for one B2C tenant, one for each policy.")
        issuer = reader.optional(
            "ISSUER", .text("ISSUER", expected: "an issuer", example: "https://id.example.com/"),
            absence: "from the metadata", help: "The only issuer whose tokens are accepted.")
        clientIdentifiers = reader.list(
            "CLIENT_ID",
            .text("ID", expected: "an application id", example: "580e250c-8f26-49d0-bee8-1c078add1609"),
            help: "The application ids that tokens must be issued for (their audience).")
        certificates = reader.optional(
            "CA_FILE", .path, absence: "those of the system",
            help: "CA certificates (PEM) that are trusted for the authority.")
        allowHTTP = reader.value(
            "ALLOW_HTTP_AUTHORITY", .bool, default: "false",
            help:
                "Accepts http:// for an authority on another machine. Anyone on the network path can then forge tokens."
        )
        pageAddress = reader.optional(
            "PAGE_AUTHORITY", .webAddress(example: "http://localhost:3001/contoso.onmicrosoft.com"),
            absence: "TASKS_AUTHORITY", help: "The authority as browsers reach it, if that differs.")
        noteWhatIsUnsafe(&reader)
    }

    private func noteWhatIsUnsafe(_ reader: inout SettingReader) {
        let all = (address.map { [("AUTHORITY", $0)] } ?? []) + metadata.map { ("METADATA_URL", $0) }
        for (name, url) in all where !url.isEncrypted && !url.isLoopback && !allowHTTP {
            reader.mistake(
                "TASKS_\(name): http://\(url.host) can be read and changed on the network path; use https://, or set "
                    + "TASKS_ALLOW_HTTP_AUTHORITY=true if the network in between is yours alone.")
        }
        if address != nil, !metadata.isEmpty {
            reader.mistake("TASKS_AUTHORITY and TASKS_METADATA_URL are both set; set the one that you mean.")
        }
        if address == nil, !policies.isEmpty {
            reader.mistake("TASKS_POLICIES is set without TASKS_AUTHORITY, whose policies they are.")
        }
    }

    /// Why these metadata documents cannot be trusted together, as far as their addresses show it.
    ///
    /// Owners and audiences are not distinguished by issuer, so a second provider could speak for the people of the first.
    /// What only the documents show is refused when they are loaded.
    var unsafeSources: [String] {
        let locations = metadata.map { ($0.text, MetadataLocation($0.text)) }
        var mistakes: [String] = []
        for (text, location) in locations {
            guard let location else {
                mistakes.append("TASKS_METADATA_URL: \(text) is not a plain web address.")
                continue
            }
            if location.namesSeveralPolicies {
                mistakes.append("TASKS_METADATA_URL: \(text) names two policies; name one, in the path or as ?p=.")
            }
            if location.lacksPolicy {
                mistakes.append(
                    "TASKS_METADATA_URL: \(text) is of Azure AD B2C and names no policy, so no policy can be demanded of "
                        + "tokens; set TASKS_AUTHORITY and TASKS_POLICIES instead.")
            }
        }
        guard let (first, provider) = locations.first, let provider else { return mistakes }
        for (text, location) in locations.dropFirst() where !(location?.isSameProvider(as: provider) ?? true) {
            mistakes.append(
                "TASKS_METADATA_URL: \(first) and \(text) are of two providers or tenants. People whose "
                    + "TASKS_OWNER_CLAIM has the same value at both would share their tasks, and each could issue tokens "
                    + "for the other's people. Run one server for each, with a TASKS_DATABASE of its own.")
        }
        return mistakes
    }

    /// What a server cannot start without.
    var whatIsMissing: [String] {
        var missing: [String] = []
        if address == nil, metadata.isEmpty, policies.isEmpty {
            missing.append(
                "TASKS_AUTHORITY is not set. Example: TASKS_AUTHORITY=https://contoso.b2clogin.com/"
                    + "contoso.onmicrosoft.com (or TASKS_METADATA_URL for another provider than B2C)")
        }
        if address != nil, policies.isEmpty {
            missing.append("TASKS_POLICIES is not set. Example: TASKS_POLICIES=b2c_1_sign_up,b2c_1_sign_in")
        }
        if clientIdentifiers.isEmpty {
            missing.append(
                "TASKS_CLIENT_ID is not set: the application id that tokens must be issued for. Example: "
                    + "TASKS_CLIENT_ID=580e250c-8f26-49d0-bee8-1c078add1609")
        }
        return missing
    }
}

extension SettingKind where Value == String {
    /// The name of a policy, which becomes part of a URL.
    fileprivate static let policy = SettingKind(
        placeholder: "POLICY", expected: "the name of a policy (letters, digits, _ and -)", example: "b2c_1_sign_in"
    ) { text in
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
        return isPlain && !text.isEmpty ? text : nil
    }
}
