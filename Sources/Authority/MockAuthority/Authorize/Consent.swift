import Synchronization

/// The consent of people and administrators to the scopes of clients (docs/reproduced.md, "Authorization endpoint").
extension RequestContext {
    /// Whether a page must ask before the request is answered.
    func mustConsent(_ user: User, _ request: AuthorizationRequest) -> Bool {
        let mustAlways = request.delivery.adminConsent != nil || request.options.prompt == "consent"
        return provider.traits.asksForConsent && mustAlways || lacksConsent(user, request.client, request.scope)
    }

    /// Whether the person may answer that page.
    func mayConsent(_ user: User, _ request: AuthorizationRequest) -> Bool {
        let mayAlways = request.delivery.adminConsent != nil || request.client.consent != .admin
        return provider.traits.asksForConsent && (mayAlways || !lacksConsent(user, request.client, request.scope))
    }

    func lacksConsent(_ user: User, _ client: Client, _ scope: Scope) -> Bool {
        guard client.consent != nil, provider.traits.asksForConsent else { return false }
        let given = run.consents.withLock { all in [client.id, client.id + user.objectID].flatMap { all[$0] ?? [] } }
        return !scope.permissions.isSubset(of: given)
    }

    /// Remembers the consent of a person, or without one that of an administrator for everybody.
    func addConsent(of user: User?, to client: Client, _ scope: Scope) {
        run.consents.withLock { $0[client.id + (user?.objectID ?? ""), default: []].formUnion(scope.permissions) }
    }
}
