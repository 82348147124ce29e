import Basics

/// The scope of a request (RFC 6749 section 3.3).
struct Scope: Sendable, Equatable {
    /// The scope tokens in the order of the request, each once.
    private(set) var asked: [String] = []
    /// The scope tokens that belong to the API.
    private(set) var resourceWords: [String] = []
    /// `aud` of the access token; without one there is no access token.
    private(set) var audience: String?
    /// The names in `scp`.
    private(set) var names: [String] = []

    var openID: Bool { asked.contains("openid") }
    var offline: Bool { asked.contains("offline_access") }
    var text: String { asked.joined(separator: " ") }

    /// The scope of a request that has none.
    init() {}

    /// Reads the scope of a request.
    ///
    /// - Parameters:
    ///   - text: scope tokens, separated by spaces.
    ///   - client: the client; its own id is a scope token too.
    ///   - configuration: the registered APIs, and the service where they are, which decides what a scope may be.
    /// - Throws: the refusal of the first scope token that is not registered, or of a second resource.
    init(_ text: String, client: Client, _ configuration: Configuration) throws(Refusal) {
        let isStrict = configuration.profile == .strict
        for word in text.spaceSeparated where !asked.contains(word) {
            let isStandard =
                ["openid", "offline_access", "profile", "email"].contains(word)
                || isStrict && ["address", "phone"].contains(word)
            // OpenID Connect Core 3.1.2.1: scopes that are not understood are ignored.
            if isStrict, !isStandard, (try? configuration.meaning(of: word, client: client)) == nil { continue }
            asked.append(word)
            if !isStandard { try addResource(word, client, configuration, text) }
        }
    }

    private mutating func addResource(
        _ word: String, _ client: Client, _ configuration: Configuration, _ text: String
    ) throws(Refusal) {
        let (audience, names) = try configuration.meaning(of: word, client: client)
        guard self.audience == nil || self.audience == audience else { throw .twoResources(text) }
        self.audience = audience
        resourceWords.append(word)
        for name in names where !self.names.contains(name) { self.names.append(name) }
    }
}

extension Configuration {
    /// The API that a scope token means, and its scopes.
    ///
    /// Bare names mean the first API that has them: more than the service takes, and what every sample tries first.
    fileprivate func meaning(of word: String, client: Client) throws(Refusal) -> (audience: String, names: [String]) {
        if profile == .b2c, word.isEqualIgnoringCase(to: client.id) { return (client.id, []) }
        let resources = applications.resources + (profile.isEntra ? [.graph] : [])
        for resource in resources {
            for prefix in resource.prefixes(profile) {
                if word == prefix + ".default" { return (resource.audience, resource.scopes) }
                let asked = word.hasPrefix(prefix) ? String(word.dropFirst(prefix.count)) : word
                let name = resource.scopes.first {
                    profile.isEntra ? $0.isEqualIgnoringCase(to: asked) : $0.isSame(as: asked)
                }
                if let name { return (resource.audience, [name]) }
            }
        }
        for resource in resources {
            for prefix in resource.prefixes(profile) where word.hasPrefix(prefix) {
                throw .noSuchScope(word, named: word.dropFirst(prefix.count), on: resource.audience, client)
            }
        }
        if word.contains("://") { throw .scopeUnsupported(word) }
        if profile == .b2c || GUID.canonical(word) != nil { throw .scopeWithoutResource(word) }
        // Entra takes a bare name for a scope of Graph.
        throw .noSuchScope(word, named: word[...], on: Resource.graph.audience, client)
    }
}

extension Resource {
    /// Microsoft Graph, for which every tenant of Entra gives tokens.
    static let graph = Resource(
        identifier: "https://graph.microsoft.com", audience: "00000003-0000-0000-c000-000000000000",
        scopes: [
            "User.Read", "User.ReadWrite", "User.ReadBasic.All", "User.Read.All", "Mail.Read", "Mail.Send",
            "Calendars.Read", "Calendars.ReadWrite", "Contacts.Read", "Files.Read", "Group.Read.All",
            "Directory.Read.All",
        ])

    /// What the scopes of the API may begin with; Entra takes its application id too.
    fileprivate func prefixes(_ profile: TenantProfile) -> [String] {
        profile.isEntra ? [identifier + "/", audience + "/"] : [identifier + "/"]
    }
}
