import Basics
import HTTP
import JSON
import OpenSSL
import Tokens

/// An issuer whose tokens a client may present in place of a secret (workload identity federation).
package struct FederatedCredential: Sendable, Equatable {
    package var issuer: String
    package var subject: String
    package var audience = "api://AzureADTokenExchange"
}

/// A client assertion (RFC 7523 section 2.2): a token that the client signed, or one of another issuer.
struct ClientAssertion {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    let text: String
    let header: JSONObject
    let claims: JSONObject
    private let token: CompactToken

    init(_ text: String) throws(Refusal) {
        // The header may have a chain of certificates.
        guard let token = try? CompactToken(text, longestHeader: CompactToken.longest),
            let header = (try? JSONValue(parsing: token.header))?.object,
            let claims = (try? JSONValue(parsing: token.payload))?.object
        else { throw Refusal(.assertionMalformed) }
        (self.text, self.header, self.claims, self.token) = (text, header, claims, token)
    }

    /// The client that an assertion names, where the request does not (RFC 7521 section 4.2).
    static func subject(of text: String) -> String? { (try? ClientAssertion(text))?.subject }

    var issuer: String { claims["iss"]?.string ?? "" }
    var subject: String { claims["sub"]?.string ?? "" }

    func isFor(_ audience: (String) -> Bool) -> Bool {
        let value = claims["aud"] ?? .null
        return (value.array ?? [value]).compactMap(\.string).contains(where: audience)
    }

    /// The hash of the certificate whose key signed, which MSAL for Python pads with `=`.
    var thumbprint: [UInt8]? { (header["x5t#S256"] ?? header["x5t"])?.string.flatMap { Base64.decodeLenient($0) } }

    /// The first certificate of `x5c`, if its hash is the thumbprint.
    var ownCertificate: ClientCertificate? {
        let first = header["x5c"]?.array?.first?.string.flatMap { Base64.decodeLenient($0) }
        return first.flatMap(ClientCertificate.init(der:))
    }

    func isSigned(by numbers: PublicKeyNumbers) -> Bool {
        let algorithm = [SignatureAlgorithm.rs256, .ps256].first { $0.rawValue == header["alg"]?.string }
        guard let algorithm, let key = try? PublicKey(numbers, for: algorithm) else { return false }
        return key.verifies(signature: token.signature, of: token.signingInput)
    }

    /// Whether it is valid now, by clocks that differ by five minutes; MSAL for Python writes fractions of a second.
    func isValid(at now: Int64) -> Bool {
        guard let expires = claims["exp"]?.number else { return false }
        let now = Double(now)
        return now < expires + 300 && (claims["nbf"]?.number ?? now) <= now + 300
    }
}

extension RequestContext {
    /// Authenticates a client by its assertion; answers whether the request has one.
    func checkAssertion(_ parameters: Parameters, of client: Client) async throws(Refusal) -> Bool {
        guard let text = parameters["client_assertion"] else { return false }
        guard parameters["client_assertion_type"] == ClientAssertion.type else { throw Refusal(.assertionMalformed) }
        let assertion = try ClientAssertion(text)
        if configuration.behaviour.lax {
            guard assertion.subject == client.id || parameters["client_id"] != nil else {
                throw Refusal(.assertionOfOther, client.id)
            }
            return true
        }
        guard client.isConfidential else { throw Refusal(.secretUnexpected) }
        if assertion.issuer.isEqualIgnoringCase(to: client.id) {
            try check(assertion, ofCertificateOf: client)
        } else {
            try await check(federated: assertion, of: client)
        }
        guard assertion.isValid(at: now) else { throw Refusal(.assertionNotValidNow, Timestamp(seconds: now).text) }
        return true
    }

    private func check(_ assertion: ClientAssertion, ofCertificateOf client: Client) throws(Refusal) {
        let thumbprint = assertion.thumbprint ?? []
        guard let known = client.certificates.first(where: { $0.thumbprints.contains(thumbprint) }) else {
            throw .certificateUnknown(thumbprint)
        }
        // Of a certificate that is known by its thumbprint the client sends the whole.
        let own = assertion.ownCertificate.flatMap { $0.thumbprints.contains(thumbprint) ? $0 : nil }
        guard let key = known.key ?? own?.key, assertion.isSigned(by: key) else {
            throw .assertionSignature(thumbprint)
        }
        guard assertion.subject.isEqualIgnoringCase(to: client.id) else { throw Refusal(.assertionOfOther, client.id) }
        guard assertion.isFor(isTokenEndpoint) else { throw Refusal(.assertionForOther) }
    }

    /// Whether it is the token endpoint, or the issuer, of this tenant under one of its names.
    private func isTokenEndpoint(_ audience: String) -> Bool {
        guard let address = WebAddress(audience), let name = address.path.first else { return false }
        let names = [provider.tenant.id, provider.tenant.name, provider.tenant.subdomain]
        let isOfTenant = Tenant.run(of: name, names: names) != nil || SeveralTenants(rawValue: name) != nil
        return isOfTenant && (audience.hasSuffix("/\(Routes.token.path)") || address.path.last == "v2.0")
    }

    private func check(federated assertion: ClientAssertion, of client: Client) async throws(Refusal) {
        let ofIssuer = client.federatedCredentials.filter { $0.issuer == assertion.issuer }
        guard !ofIssuer.isEmpty else { throw Refusal(.federation, "700211", "issuer", assertion.issuer) }
        let ofSubject = ofIssuer.filter { $0.subject == assertion.subject }
        guard !ofSubject.isEmpty else { throw Refusal(.federation, "700213", "subject", assertion.subject) }
        guard ofSubject.contains(where: { credential in assertion.isFor { $0 == credential.audience } }) else {
            throw Refusal(.federation, "700212", "audience", assertion.claims["aud"]?.string ?? "")
        }
        try await checkSignature(federated: assertion)
    }

    /// Requires a token of one of the mock's tenants, or else one that a published key signed.
    private func checkSignature(federated assertion: ClientAssertion) async throws(Refusal) {
        for tenant in neighbours + [authority] where await tenant.keys.claims(of: assertion.text) != nil { return }
        let location = "\(assertion.issuer.hasSuffix("/") ? "" : "/").well-known/openid-configuration"
        guard let metadata = await configuration.fetch(assertion.issuer + location),
            let address = (try? JSONValue(parsing: metadata))?.object?["jwks_uri"]?.string,
            let bytes = await configuration.fetch(address), let set = try? KeySetDocument(parsing: bytes)
        else { throw .assertionSignature([]) }
        let kid = assertion.header["kid"]?.string ?? ""
        let known = set.keys.filter { $0.keyIdentifier == kid }
        if known.isEmpty { throw Refusal(.federatedKeyUnknown, kid, assertion.issuer) }
        guard known.contains(where: { assertion.isSigned(by: $0.numbers) }) else { throw .assertionSignature([]) }
    }
}
