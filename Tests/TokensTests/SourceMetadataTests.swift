import Basics
import JSON
import OpenSSL
import Support
import Testing
import Tokens

private let tenant = "775527ff-9a37-4307-8b3d-cc311f58d925"
private let other = "11111111-2222-3333-4444-555555555555"
private let document = ".well-known/openid-configuration"

private func external(_ tenant: String) -> String { "https://\(tenant).ciamlogin.com/\(tenant)/v2.0" }

@Suite("Issuer and keys of Entra ID, External ID and others are those of their tenant")
struct SourceMetadataTests {
    /// A document with this issuer, as a provider of this address has it.
    private func metadata(
        at url: String, issuer: String, segment: String = tenant, keys: String? = nil
    ) throws(MetadataError) -> ProviderMetadata {
        let base = url.split(separator: "/").prefix(2).joined(separator: "//")
        let object: JSONObject = [
            "issuer": .string(issuer), "jwks_uri": .string(keys ?? "\(base)/\(segment)/discovery/v2.0/keys"),
            "authorization_endpoint": .string("\(base)/\(segment)/oauth2/v2.0/authorize"),
            "token_endpoint": .string("\(base)/\(segment)/oauth2/v2.0/token"),
            "cloud_instance_name": "microsoftonline.com",
        ]
        return try ProviderMetadata(parsing: JSONValue.object(object).serialized())
    }

    private func check(
        _ url: String, _ issuer: String, segment: String = tenant, keys: String? = nil,
        _ change: (inout MetadataRules) -> Void = { _ in }
    ) -> Result<IssuerBasis, MetadataError> {
        var rules = MetadataRules(metadataURL: url, demandsOwnIssuer: false)
        change(&rules)
        return Result { () throws(MetadataError) in
            try metadata(at: url, issuer: issuer, segment: segment, keys: keys).check(against: rules)
        }
    }

    @Test
    func `P-4 The issuer of External ID is on a host of its own, and believed only for the tenant of the address`() {
        let byName = "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0/\(document)"
        let byID = "https://contoso.ciamlogin.com/\(tenant)/v2.0/\(document)"
        let custom = "https://login.contoso.com/\(tenant)/v2.0/\(document)"
        for url in [byName, byID, custom] {
            #expect(check(url, external(tenant)) == .success(.derived), "\(url)")
            #expect(check(url, external(other)) == .failure(.foreignTenant), "\(url)")
            // The settings name the tenant: its document, and no other's, is believed.
            let ofTenant = { (rules: inout MetadataRules) in rules.tenantIdentifier = tenant.uppercased() }
            #expect(check(url, external(tenant), ofTenant) == .success(.derived), "\(url)")
            #expect(check(url, external(other), segment: other, ofTenant) == .failure(.foreignTenant), "\(url)")
        }
        // The document of another tenant as a whole: the name of a tenant does not show it, its GUID does.
        #expect(check(byID, external(other), segment: other) == .failure(.foreignTenant))
        #expect(check(byID, external(tenant), segment: other) == .success(.derived))
        for issuer in [
            "\(external(tenant))/", "https://\(tenant).ciamlogin.com/\(other)/v2.0", "https://\(tenant).ciamlogin.com/",
            "http://\(tenant).ciamlogin.com/\(tenant)/v2.0",
            "https://\(tenant).ciamlogin.com.evil.example/\(tenant)/v2.0",
            "https://login.microsoftonline.com/\(tenant)/v2.0", "https://evil.ciamlogin.com/\(tenant)/v2.0",
        ] {
            let result = check(byName, issuer)
            #expect([.failure(.foreignIssuer), .failure(.insecureIssuer)].contains(result), "\(issuer): \(result)")
        }
    }

    @Test(
        "P-4 A document that the settings name by its address has the issuer of External ID only on ciamlogin.com (V-74)"
    )
    func externalIDByAddress() {
        let own: (inout MetadataRules) -> Void = { $0.demandsOwnIssuer = true }
        for url in ["https://idp.example/\(document)", "https://login.contoso.com/\(tenant)/v2.0/\(document)"] {
            #expect(check(url, external(tenant), own) == .failure(.foreignIssuer), "\(url)")
        }
        for segment in [tenant, "contoso.onmicrosoft.com"] {
            let url = "https://contoso.ciamlogin.com/\(segment)/v2.0/\(document)"
            #expect(check(url, external(tenant), own) == .success(.derived), "\(url)")
        }
        #expect(check("https://evilciamlogin.com/\(document)", external(tenant), own) == .failure(.foreignIssuer))
    }

    @Test func `P-4 The endpoints that show the tenant are on the host of the document`() throws {
        let url = "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0/\(document)"
        let rules = MetadataRules(metadataURL: url, demandsOwnIssuer: false)
        let keys = "https://contoso.ciamlogin.com/keys"
        for endpoints in [
            [], ["https://contoso.ciamlogin.com/\(tenant)/a"],
            ["https://contoso.ciamlogin.com/\(tenant)/a", "https://evil.example/\(tenant)/a"],
        ] {
            let metadata = ProviderMetadata(issuer: external(tenant), keySetURL: keys, endpoints: endpoints)
            #expect(throws: MetadataError.foreignIssuer) { try metadata.check(against: rules) }
        }
        let mixed = ProviderMetadata(
            issuer: external(tenant), keySetURL: keys,
            endpoints: ["https://contoso.ciamlogin.com/\(tenant)/a", "https://contoso.ciamlogin.com/\(other)/a"])
        #expect(throws: MetadataError.foreignTenant) { try mixed.check(against: rules) }
    }

    @Test func `P-4 The two hosts of China's cloud are one, in one direction`() {
        let issuer = "https://login.partner.microsoftonline.cn/\(tenant)/v2.0"
        #expect(check("https://login.chinacloudapi.cn/\(tenant)/v2.0/\(document)", issuer) == .success(.derived))
        let reverse = check(
            "https://login.partner.microsoftonline.cn/\(tenant)/v2.0/\(document)",
            "https://login.chinacloudapi.cn/\(tenant)/v2.0")
        #expect(reverse == .failure(.foreignIssuer))
    }

    @Test func `P-5 A pinned issuer is compared byte by byte, and one for many tenants needs a list of tenants`() {
        let url = "https://login.contoso.com/\(tenant)/v2.0/\(document)"
        let issuer = "https://login.microsoftonline.com/\(tenant)/v2.0"
        #expect(check(url, issuer) == .failure(.foreignIssuer))
        #expect(check(url, issuer) { $0.pinnedIssuer = issuer } == .success(.pinned))
        #expect(check(url, issuer) { $0.pinnedIssuer = "\(issuer)/" } == .failure(.unexpectedIssuer))
        let common = "https://login.microsoftonline.com/common/v2.0/\(document)"
        let template = "https://login.microsoftonline.com/{tenantid}/v2.0"
        for pin in [nil, template] {
            #expect(check(common, template) { $0.pinnedIssuer = pin } == .failure(.openTenant))
            let listed = check(common, template) { rules in
                rules.pinnedIssuer = pin
                rules.allowsTemplate = true
                rules.demandsOwnIssuer = true
            }
            #expect(listed == .success(pin == nil ? .sameHost : .pinned))
        }
    }

    @Test func `P-6 Keys come from the host of the metadata, or from one that this source names`() {
        let url = "https://accounts.google.com/\(document)"
        let keys = "https://www.googleapis.com/oauth2/v3/certs"
        let issuer = "https://accounts.google.com"
        #expect(check(url, issuer, keys: keys) == .failure(.foreignKeySetURL))
        #expect(check(url, issuer, keys: keys) { $0.keyHosts = ["www.googleapis.com"] } == .success(.sameHost))
        #expect(check(url, issuer, keys: keys) { $0.keyHosts = ["googleapis.com"] } == .failure(.foreignKeySetURL))
        let plain = check(url, issuer, keys: "http://www.googleapis.com/x") { $0.keyHosts = ["www.googleapis.com"] }
        #expect(plain == .failure(.insecureKeySetURL))
    }

    @Test func `P-33 The members that are used survive the key file`() throws {
        let full = try metadata(at: "https://h.example/t", issuer: external(tenant))
        #expect(try ProviderMetadata(parsing: JSONValue.object(full.json).serialized()) == full)
        let bare = ProviderMetadata(issuer: "https://h.example", keySetURL: "https://h.example/keys")
        #expect(try ProviderMetadata(parsing: JSONValue.object(bare.json).serialized()) == bare)
    }
}

@Suite("A published key signs only for the issuers for which it was published")
struct KeyBindingTests {
    /// A key with this `issuer` and `cloud_instance_name`.
    private func key(issuer: String?, cloud: String? = nil) throws -> KeySetDocument.Key {
        var object: JSONObject = [
            "kid": "k", "kty": "RSA", "n": .string(Base64URL.encode(SigningKey.shared.modulus)),
            "e": .string(Base64URL.encode(SigningKey.shared.exponent)),
        ]
        object["issuer"] = issuer.map { .string($0) }
        object["cloud_instance_name"] = cloud.map { .string($0) }
        let set: JSONValue = ["keys": [.object(object)]]
        return try #require(try KeySetDocument(parsing: set.serialized()).keys.first)
    }

    private func binding(
        _ issuer: String?, under document: String, cloud: String? = nil, _ own: String? = nil
    ) throws -> Result<String, KeyRejection> {
        let key = try key(issuer: issuer, cloud: cloud)
        let metadata = ProviderMetadata(issuer: document, keySetURL: "https://h.example/keys", cloud: own)
        return Result { () throws(KeyRejection) in try key.issuer(under: metadata) }
    }

    private static let entra = "https://login.microsoftonline.com"

    @Test func `P-7 The issuer of a key narrows that of the metadata, and any other makes it unusable`() throws {
        let (template, own) = ("\(Self.entra)/{tenantid}/v2.0", "\(Self.entra)/\(tenant)/v2.0")
        #expect(try binding(nil, under: own) == .success(own))
        #expect(try binding(own, under: own) == .success(own))
        #expect(try binding(template, under: own) == .success(own))
        #expect(try binding(template, under: template) == .success(template))
        #expect(try binding(nil, under: template) == .success(template))
        #expect(try binding(own, under: template) == .success(own))
        let ciam = "https://{tenantid}.ciamlogin.com/{tenantid}/v2.0"
        #expect(try binding(ciam, under: external(tenant)) == .success(external(tenant)))
        for (issuer, document) in [
            ("\(Self.entra)/\(other)/v2.0", own), ("https://login.microsoftonline.us/{tenantid}/v2.0", own),
            (external(tenant), template), (template, external(tenant)), ("x", own), ("\(own)/", own),
        ] {
            #expect(try binding(issuer, under: document) == .failure(.otherIssuer), "\(issuer)")
        }
    }

    @Test func `P-8 A key of another cloud is not used`() throws {
        let own = external(tenant)
        let (world, government) = ("microsoftonline.com", "microsoftonline.us")
        #expect(try binding(nil, under: own, cloud: world, world) == .success(own))
        #expect(try binding(nil, under: own, cloud: government, world) == .failure(.otherCloud))
        #expect(try binding(nil, under: own, cloud: government, nil) == .success(own))
        #expect(try binding(nil, under: own, cloud: nil, world) == .success(own))
    }

    @Test func `P-9 A set tells the algorithms of its keys`() throws {
        let set: JSONValue = [
            "keys": [
                ["kty": "EC", "crv": "P-256"], ["kty": "EC", "crv": "P-256"], ["kty": "OKP", "crv": "Ed25519"],
                ["kty": "oct"], ["kty": "RSA", "alg": "PS256"], ["kty": "RSA", "alg": "\u{1B}[2J"], ["kty": "RSA"], 1,
                // These sign nothing, or not with this algorithm.
                ["kty": "RSA", "alg": "ES384"], ["kty": "EC", "crv": "P-384", "alg": "ES256"],
                ["kty": "EC", "crv": "P-384", "use": "enc"], ["kty": "EC", "crv": "P-384", "key_ops": ["deriveKey"]],
                ["kty": "OKP", "crv": "X25519", "alg": "EdDSA"], ["kty": "OKP", "crv": "Ed448", "alg": "EdDSA"],
            ]
        ]
        let names = ["ES256", "EdDSA", "HS256", "PS256", "RS256", "EdDSA with Ed448"]
        #expect(try KeySetDocument(parsing: set.serialized()).algorithms == names)
    }

    @Test func `P-22 A template is filled in all of its places, and with GUIDs only`() {
        let ciam = TokenIssuer(identifier: "https://{tenantid}.ciamlogin.com/{tenantid}/v2.0", policy: nil)
        #expect(ciam.isTemplate && ciam.issues(external(tenant), tenant: tenant))
        #expect(!ciam.issues(external(tenant), tenant: other) && !ciam.issues(external(tenant), tenant: nil))
        #expect(!TokenIssuer(identifier: "https://h.example/{x}", policy: nil).isTemplate)
        let text = TokenIssuer(identifier: "https://h.example/{tenantid}/v2.0", policy: nil)
        #expect(!text.issues("https://h.example/contoso.com/v2.0", tenant: "contoso.com"))
    }
}
