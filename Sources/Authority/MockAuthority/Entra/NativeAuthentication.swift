import HTTP
import JSON

/// Native authentication of mobile apps (docs/external-id.md, "Native authentication").
extension RequestContext {
    /// Every step answers that the app must use the browser, which the interface allows at any of them (P-40).
    func nativeAuthentication() -> Decision {
        head.answerForm { parameters in
            guard let id = parameters["client_id"] else {
                return response(Refusal.missingParameter("client_id").entra)
            }
            guard configuration.applications.client(id) != nil else {
                return response(Refusal.unknownClient(id, tenant: configuration.tenant.name).entra)
            }
            return Response.json(["challenge_type": "redirect"], headers: headers)
        }
    }
}
