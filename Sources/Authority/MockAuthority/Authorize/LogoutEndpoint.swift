import HTTP
import JSON

/// The end of a session (OpenID Connect RP-Initiated Logout 1.0), as loose as the service has it.
extension RequestContext {
    /// Forgets the session and goes where the client says.
    ///
    /// Without a hint the URI is not checked, as in the services of Microsoft: the open redirect is intended, and one
    /// more reason to stay on the loopback. A strict provider checks the URI by the hint or by `client_id`.
    func logout() async -> Response {
        let query = head.target
        let isExact = provider.traits.matchesRedirectURIsExactly
        let cookie: FieldLines = ["Set-Cookie": Session(context: self).expiredCookie]
        guard let uri = query["post_logout_redirect_uri"], !uri.isEmpty else {
            return Page(title: "Signed out", content: "<p>You are signed out.</p>", headers: cookie).response
        }
        if let hint = query["id_token_hint"], !hint.isEmpty {
            guard let client = await client(hint) else { return errorPage(Refusal(.invalidIDTokenHint)) }
            guard configuration.behaviour.lax || client.accepts(uri, exactly: isExact) else {
                return errorPage(Refusal(.redirectMismatch, uri, client.id))
            }
        } else if isExact {
            let client = query["client_id"].flatMap(configuration.applications.client)
            guard client?.accepts(uri, exactly: true) == true else {
                return errorPage(Refusal(.redirectMismatch, uri, client?.id ?? ""))
            }
        }
        let state = query["state"].map { [("state", $0)] } ?? []
        return Delivery(redirectURI: uri, isSentExactly: isExact, mode: .query).response(state, headers: cookie)
    }

    /// The client that the ID token in the hint is for; the token may have expired.
    private func client(_ hint: String) async -> Client? {
        let claims = await keys.claims(of: hint)
        return claims?["aud"]?.string.flatMap(configuration.applications.client)
    }
}
