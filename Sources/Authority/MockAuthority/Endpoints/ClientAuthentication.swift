import Basics
import HTTP
import OpenSSL

/// Client authentication at the token endpoint, in five forms (docs/reproduced.md, "Client authentication").
///
/// Public with `client_id` in the body; Basic with an empty secret; the secret in the body; Basic with both parts
/// form-encoded (RFC 6749 section 2.3.1); either of the last with `client_id` in the body again.
struct ClientAuthentication: Sendable {
    let context: RequestContext

    func client(_ parameters: Parameters) throws(Refusal) -> Client {
        let basic = context.head.headers["Authorization"].flatMap(BasicCredentials.init)
        guard let id = parameters["client_id"] ?? basic?.user else { throw .missingParameter("client_id") }
        if let user = basic?.user, !user.isEqualIgnoringCase(to: id) { throw .clientMismatch(id, user) }
        guard let client = context.configuration.applications.client(id) else {
            throw .unknownClient(id, tenant: context.configuration.tenant.name)
        }
        if !context.configuration.behaviour.lax {
            try check(parameters["client_secret"] ?? basic?.password, of: client)
        }
        return client
    }

    private func check(_ given: String?, of client: Client) throws(Refusal) {
        switch (client.secret, given) {
        case (nil, nil): return
        case (nil, _?): throw .secretUnexpected
        case (_?, nil): throw .secretMissing
        case (let known?, let given?):
            guard ConstantTime.equal(Array(known.utf8), Array(given.utf8)) else { throw .secretWrong }
        }
    }
}

/// The credentials of RFC 7617, form-decoded as RFC 6749 section 2.3.1 asks.
struct BasicCredentials: Sendable, Equatable {
    let user: String
    /// Nothing where it is empty, as oidc-agent sends it.
    let password: String?

    /// Reads the value of an `Authorization` field; nothing for another scheme.
    init?(_ field: String) {
        let parts = field.spaceSeparated
        guard parts.count == 2, parts[0].isEqualIgnoringCase(to: "basic"), let bytes = Base64.decodeLenient(parts[1])
        else {
            return nil
        }
        let pair = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = pair.first, !first.isEmpty else { return nil }
        user = Self.decoded(first)
        password = pair.count == 2 && !pair[1].isEmpty ? Self.decoded(pair[1]) : nil
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        // Text that is not form-encoded is taken as it is: curl sends it so.
        let form = Parameters(urlEncoded: Array("v=".utf8) + bytes)
        return form.all.count == 1 ? form["v"] ?? "" : String(decoding: bytes, as: UTF8.self)
    }
}
