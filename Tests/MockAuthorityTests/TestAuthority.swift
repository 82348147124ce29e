import Basics
import HTTP
import JSON
@testable import MockAuthority
import OpenSSL
import Platform
import Support
import Synchronization
import Testing

/// Keys made once for all tests: making one takes a tenth of a second, under a sanitizer much longer.
enum SharedKeys {
    static let all: [PrivateKey] = (0..<8).compactMap { _ in
        do { return try PrivateKey.generate(bits: 2048) } catch { return nil }
    }
}

extension KeyGenerator {
    /// These keys in their order, then new ones.
    static func prepared(_ keys: [PrivateKey]) -> KeyGenerator {
        let next = Atomic(0)
        return KeyGenerator { () throws(PrivateKeyError) in
            let index = next.add(1, ordering: .relaxed).oldValue
            return index < keys.count ? keys[index] : try PrivateKey.generate(bits: 2048)
        }
    }
}

/// An authority and the requests that tests make of it.
struct TestAuthority: Sendable {
    static let now: Int64 = 1_700_000_000
    static let clientID = "580e250c-8f26-49d0-bee8-1c078add1609"
    static let confidential = "f1d2c3b4-0a5e-4b6f-8c7d-9e0f1a2b3c4d"

    let clock: ManualClock
    let authority: MockAuthority

    init(_ authority: MockAuthority) {
        clock = ManualClock(wallMilliseconds: TestAuthority.now * 1000)
        self.authority = authority
    }

    init(_ configuration: Configuration = Configuration()) {
        clock = ManualClock(wallMilliseconds: TestAuthority.now * 1000)
        authority = MockAuthority(configuration: configuration, time: clock, keyGenerator: .prepared(SharedKeys.all))
    }

    /// B2C with some of its configuration changed.
    init(_ change: (inout Configuration) -> Void) {
        var configuration = Configuration()
        change(&configuration)
        self.init(configuration)
    }

    /// The request of an application for a token of its own.
    static let daemonForm =
        "grant_type=client_credentials&client_id=\(confidential)&client_secret=mock-secret"
        + "&scope=https://contoso.onmicrosoft.com/tasks/.default"

    /// The answer to a request.
    func ask(
        _ method: Method, _ target: String, body: String = "", headers: HeaderFields = HeaderFields(),
        peer: String = "127.0.0.1", host: String = "mock.test:3001"
    ) async throws -> Response {
        var fields: HeaderFields = ["Host": host]
        for field in headers.fields { fields.append(field.name, field.value) }
        let head = RequestHead(
            method: method, target: try RequestTarget(parsing: target), headers: HeaderSection(fields.fields),
            peer: peer)
        return await authority.decide(on: head).answered(Array(body.utf8))
    }

    /// The list that a control answers.
    func list(_ control: String) async throws -> [JSONObject] {
        try JSONValue(parsing: try await get("/_mock/\(control)").body).array?.compactMap(\.object) ?? []
    }

    func get(_ target: String, _ headers: HeaderFields = HeaderFields()) async throws -> Response {
        try await ask(.get, target, headers: headers)
    }

    /// The answer of the token endpoint of a policy.
    func token(
        _ body: String, policy: String = "b2c_1_ropc", headers: HeaderFields = HeaderFields()
    ) async throws -> Response {
        try await ask(.post, "/contoso.onmicrosoft.com/\(policy)/oauth2/v2.0/token", body: body, headers: headers)
    }

    /// A refresh token of alice, by the password grant.
    func refreshToken() async throws -> String {
        let form = "\(PasswordGrantTests.form)&scope=openid+offline_access"
        return try await token(form).json()["refresh_token"]?.string ?? ""
    }

    /// The answer to a refresh token, with further parameters.
    func refresh(
        _ token: String, _ more: String = "", policy: String = "b2c_1_ropc", headers: HeaderFields = HeaderFields()
    ) async throws -> Response {
        let form = "grant_type=refresh_token&client_id=\(TestAuthority.clientID)&refresh_token=\(token)\(more)"
        return try await self.token(form, policy: policy, headers: headers)
    }

    /// A token of the controls in its compact form.
    func text(_ query: String) async throws -> String {
        try await get("/_mock/token?\(query)").text
    }

    /// The key set of B2C, which is read without a request, so that none is recorded.
    func keySet() async throws -> JSONValue { try await authority.b2c.keys.current().keySet }

    /// The keys that B2C publishes now.
    func publicKeys() async throws -> [String: PublicKey] { try Self.publicKeys(in: try await keySet()) }

    /// The keys of a set, by their names.
    static func publicKeys(in set: JSONValue) throws -> [String: PublicKey] {
        var keys: [String: PublicKey] = [:]
        for key in (set["keys"].array ?? []).compactMap(\.object) {
            guard let kid = key["kid"]?.string, let n = key["n"]?.string, let e = key["e"]?.string else { continue }
            keys[kid] = try PublicKey(.rsa(modulus: Token.decode(n), exponent: Token.decode(e)), for: .rs256)
        }
        return keys
    }
}

/// A token, taken apart.
struct Token {
    let header: JSONObject
    let claims: JSONObject
    let input: [UInt8]
    let signature: [UInt8]

    struct Malformed: Error {}

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = try JSONValue(parsing: Self.decode(parts[0])).object,
            let claims = try JSONValue(parsing: Self.decode(parts[1])).object
        else { throw Malformed() }
        self.header = header
        self.claims = claims
        input = Array("\(parts[0]).\(parts[1])".utf8)
        signature = Self.decode(parts[2])
    }

    func isSigned(by keys: [String: PublicKey]) -> Bool {
        header["kid"]?.string.flatMap { keys[$0] }?.verifies(signature: signature, of: input) ?? false
    }

    /// The bytes of base64url; none if the text is malformed.
    static func decode(_ text: String) -> [UInt8] { Base64URL.decode(text) ?? [] }
}

extension Response {
    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> JSONObject { try JSONValue(parsing: body).object ?? JSONObject() }

    /// The five digits of the error of B2C that this refusal has; `good` if there is none.
    func code() throws -> String {
        String(try json()["error_description"]?.string?.dropFirst(6).prefix(5) ?? "good")
    }
}

extension JSONObject {
    var names: [String] { members.map(\.name) }

    /// The text of a member, which is empty if there is none.
    func text(_ name: String) -> String { self[name]?.string ?? "" }

    /// The token in a member.
    func token(_ name: String) throws -> Token { try Token(text(name)) }
}

/// A request that is wrong in one way, and the error that it gets.
struct WrongRequest: Sendable, CustomTestStringConvertible {
    let parameters: String
    let error: String
    let code: String
    let policy: String
    var testDescription: String { code }

    init(_ parameters: String, _ error: String, _ code: String, policy: String = "b2c_1_ropc") {
        (self.parameters, self.error, self.code, self.policy) = (parameters, error, code, policy)
    }
}
