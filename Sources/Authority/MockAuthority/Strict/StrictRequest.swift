import HTTP
import JSON

// The rules of an authorization request that Microsoft's services do not have.

extension Parameters {
    /// Refuses the parameters that carry a whole request, which need not be supported (OpenID Connect Core 3.1.2.6).
    func refuseUnsupported() throws(Refusal) {
        for name in ["request", "request_uri", "registration"] where self[name] != nil {
            throw .parameterNotSupported(name)
        }
    }
}

extension AuthorizationRequest.Options {
    /// Reads what a strict provider understands, and forgets what only Microsoft's clients send.
    mutating func readStrictly(_ parameters: Parameters, for types: ResponseTypes) throws(Refusal) {
        hint.session = nil
        clientInfo = false
        if types.contains(.idToken), nonce == nil { throw .missingParameter("nonce") }
        if parameters["max_age"] != nil, (maximumAge ?? -1) < 0 { throw .malformed("max_age") }
        guard let text = parameters["claims"] else { return }
        guard let asked = (try? JSONValue(parsing: Array(text.utf8)))?.object else { throw .malformed("claims") }
        claims = RequestedClaims(asked)
        let ofToken = asked["id_token"]?.object
        hint.subject = ofToken?["sub"]?.object?["value"]?.string
        if let acr = ofToken?["acr"]?.object, acr["essential"]?.boolean == true {
            // OpenID Connect Core 5.5.1.1: an essential context that cannot be had is a failed sign-in.
            let values = [acr["value"] ?? .null] + (acr["values"]?.array ?? [])
            let wanted = values.compactMap(\.string)
            guard wanted.isEmpty || wanted.contains(StrictClaims.context) else { throw .unmetAuthentication }
        }
    }
}
