import Basics

/// What a request asks for, taken apart.
struct Scope: Sendable, Equatable {
    /// The words in the order in which they were asked, each once.
    private(set) var asked: [String] = []
    /// Those of them that belong to the API.
    private(set) var resourceWords: [String] = []
    /// `aud` of the access token; without one there is no access token.
    private(set) var audience: String?
    /// The names in `scp`.
    private(set) var names: [String] = []

    /// An ID token is wanted.
    var openID: Bool { asked.contains("openid") }
    /// A refresh token is wanted.
    var offline: Bool { asked.contains("offline_access") }
    /// The words, joined again.
    var text: String { asked.joined(separator: " ") }

    /// Takes apart what a client asks.
    ///
    /// - Parameters:
    ///   - text: the words.
    ///   - client: who asks; its own id is a scope too.
    ///   - applications: what there is.
    /// - Throws: the refusal of the first word that nobody registered, or of a second resource.
    init(_ text: String, client: Client, applications: Applications) throws(Refusal) {
        for word in text.words where !asked.contains(word) {
            asked.append(word)
            switch word {
            case "openid", "offline_access", "profile", "email": continue
            default: try addResource(word, client, applications, text)
            }
        }
    }

    private mutating func addResource(
        _ word: String, _ client: Client, _ applications: Applications, _ text: String
    ) throws(Refusal) {
        let (audience, names) = try applications.meaning(of: word, client: client)
        guard self.audience == nil || self.audience == audience else { throw .twoResources(text) }
        self.audience = audience
        resourceWords.append(word)
        for name in names where !self.names.contains(name) { self.names.append(name) }
    }
}

extension Applications {
    /// Which API a word of a scope means, and which of its scopes.
    ///
    /// Bare names mean the first API that has them: more than the service takes, and what every sample tries first.
    fileprivate func meaning(of word: String, client: Client) throws(Refusal) -> (audience: String, names: [String]) {
        if word.isEqualIgnoringCase(to: client.id) { return (client.id, []) }
        for resource in resources {
            let prefix = resource.identifier + "/"
            if word == prefix + ".default" { return (resource.audience, resource.scopes) }
            let name = word.hasPrefix(prefix) ? String(word.dropFirst(prefix.count)) : word
            if resource.scopes.contains(name) { return (resource.audience, [name]) }
        }
        throw word.contains("://") ? .scopeUnsupported(word) : .scopeWithoutResource(word)
    }
}
