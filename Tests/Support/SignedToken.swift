import Basics
import JSON
import OpenSSL
import Tokens

/// The claims of good tokens, of which tests change a member to make a bad token.
package enum TestClaims {
    /// The moment of the tests, in seconds since 1970.
    package static let now: Int64 = 1_700_000_000
    /// `kid` of ``SigningKey/shared``.
    package static let keyIdentifier = "key-1"
    /// The issuer that all policies of the tests share.
    package static let issuer = "https://contoso.b2clogin.com/775527ff-9a37-4307-8b3d-cc311f58d925/v2.0/"
    /// The application.
    package static let audience = "90c0fe63-bcf2-44d5-8fb7-b8bbc0b29dc6"
    /// The object id.
    package static let owner = "3cd71a23-2b14-4f4c-9c35-5dd0c5a6b1b7"
    /// The policy.
    package static let policy = "B2C_1_sign_in"

    /// The header of a good token.
    package static let header: JSONObject = ["typ": "JWT", "alg": "RS256", "kid": .string(keyIdentifier)]

    /// The claims of a good token at ``now``.
    package static let good: JSONObject = [
        "iss": .string(issuer), "exp": .integer(now + 3600), "nbf": .integer(now), "iat": .integer(now),
        "aud": .string(audience), "oid": .string(owner), "sub": "Not supported currently. Use oid claim.",
        "tfp": .string(policy), "scp": "tasks.read tasks.write", "name": "Alice", "ver": "1.0",
    ]

    /// The rules under which ``good`` is good.
    package static let rules = ClaimRules(audiences: [audience])
    /// The issuers under which ``good`` is good.
    package static let issuers = [TokenIssuer(identifier: issuer, policy: policy)]
}

extension JSONObject {
    /// The object with one member changed, added, or (`nil`) removed.
    package func with(_ name: String, _ value: JSONValue?) -> JSONObject {
        var copy = self
        copy[name] = value
        return copy
    }
}

/// A token of these claims, signed with RS256.
package func makeToken(
    claims: JSONObject = TestClaims.good, header: JSONObject = TestClaims.header, key: PrivateKey = SigningKey.shared
) -> String {
    makeToken(
        payload: JSONValue.object(claims).serialized(), header: JSONValue.object(header).serialized(), key: key)
}

/// A token of any bytes as header and payload, signed with RS256.
package func makeToken(payload: [UInt8], header: [UInt8], key: PrivateKey = SigningKey.shared) -> String {
    let input = Base64URL.encode(header) + "." + Base64URL.encode(payload)
    do throws(PrivateKeyError) {
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8)))
    } catch {
        preconditionFailure("a test key did not sign: \(error)")
    }
}
