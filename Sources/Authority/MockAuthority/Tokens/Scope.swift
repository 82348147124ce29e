import Basics
import JSON

/// The scope of a request (RFC 6749 section 3.3).
struct Scope: Sendable, Equatable {
    /// The scope tokens in the order of the request, each once.
    private(set) var asked: [String] = []
    private(set) var resourceWords: [String] = []
    /// `aud` of the access token; without one there is no access token.
    private(set) var audience: String?
    private(set) var names: [String] = []
    /// What a response of Entra says: `/.default` comes after the scopes that it stands for.
    private(set) var answered: [String] = []
    /// People consent to these: the scope tokens of OpenID Connect, and each scope of an API under one name.
    private(set) var permissions: Set<String> = []

    var openID: Bool { asked.contains("openid") }
    var offline: Bool { asked.contains("offline_access") }
    var text: String { asked.joined(separator: " ") }
    /// `scp`; nil if there are no names.
    var claim: JSONValue? { .nonEmpty(names.joined(separator: " ")) }

    init() {}

    /// Reads the scope of a request, and refuses a scope token that is not registered, and perhaps a second API.
    init(
        _ text: String, client: Client, _ provider: any Provider, ofSeveralAPIs maySeveral: Bool = false
    ) throws(Refusal) {
        for word in text.spaceSeparated where !asked.contains(word) {
            let isStandard = provider.traits.standardScopes.contains(word)
            let meaning = isStandard ? nil : try provider.meaning(of: word, client: client)
            if isStandard || meaning != nil { asked.append(word) }
            let meant = word.hasSuffix("/.default") ? meaning?.names ?? [] : []
            let granted = meant.map { "\(word.dropLast(".default".count))\($0)" } + [word]
            answered += granted.filter { !answered.contains($0) }
            permissions.formUnion(meaning.map { api in api.names.map { "\(api.audience)/\($0)" } } ?? [word])
            guard let meaning else { continue }
            guard maySeveral || audience == nil || audience == meaning.audience else {
                throw Refusal(.twoResources, text)
            }
            audience = meaning.audience
            resourceWords.append(word)
            for name in meaning.names where !names.contains(name) { names.append(name) }
        }
    }
}

extension Provider {
    /// The API that a scope token means, and its scopes; `nil` for a token that is ignored.
    ///
    /// Bare names mean the first API that has them: more than the service takes, and what every sample tries first.
    fileprivate func meaning(
        of word: String, client: Client
    ) throws(Refusal) -> (audience: String, names: [String])? {
        if traits.takesClientForScope, word.isEqualIgnoringCase(to: client.id) { return (client.id, []) }
        for (resource, prefixes) in resources {
            for prefix in prefixes {
                if word == prefix + ".default" { return (resource.audience, resource.scopes) }
                let asked = word.hasPrefix(prefix) ? String(word.dropFirst(prefix.count)) : word
                if let name = resource.scopes.first(where: { isSameScope($0, asked) }) {
                    return (resource.audience, [name])
                }
            }
        }
        if let refusal = refusal(ofScope: word, client) { throw refusal }
        return nil
    }

    /// Why a scope token that begins like one of an API is refused; `nil` for another token.
    func unknownScopeOfAPI(_ word: String, _ client: Client) -> Refusal? {
        for (resource, prefixes) in resources {
            for prefix in prefixes where word.hasPrefix(prefix) {
                return Refusal(
                    .noSuchScope, word, client.title, String(word.dropFirst(prefix.count)), resource.audience)
            }
        }
        return word.contains("://") ? .noSuchResource(word, in: tenant) : nil
    }
}
