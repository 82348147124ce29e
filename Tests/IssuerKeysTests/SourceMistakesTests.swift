import IssuerKeys
import Testing
import Tokens

@Suite("Sources that cannot be served together stop the start")
struct SourceMistakesTests {
    private static let entra = "https://login.microsoftonline.com"

    private func source(_ name: String?, _ authority: String, _ change: (inout TokenSource) -> Void = { _ in })
        -> TokenSource
    {
        var source = TokenSource(
            name: name, documents: [MetadataDocument(authority: authority, policy: nil)],
            rules: ClaimRules(audiences: ["a"]))
        change(&source)
        return source
    }

    private func mistakes(_ sources: TokenSource...) -> [String] { IssuerKeysConfiguration(sources: sources).mistakes }

    private func tenants(_ source: inout TokenSource) { source.rules.tenants = AllowedTenants(listed: [], isAny: true) }

    @Test func `P-2 An issuer belongs to one source, also if one of them is for many tenants`() {
        let tenant = "\(Self.entra)/\(TestProvider.tenant)"
        let other = "\(Self.entra)/\(TestProvider.otherTenant)"
        #expect(mistakes(source(nil, tenant), source("b", other)) == [])
        #expect(mistakes(source(nil, tenant), source("b", "\(tenant)/?appid=x")).first?.contains("same tokens") == true)
        #expect(mistakes(source(nil, tenant), source("b", "\(Self.entra)/common", tenants)).count == 1)
        #expect(
            mistakes(source(nil, "\(Self.entra)/organizations", tenants), source("b", "\(Self.entra)/common", tenants))
                .count == 1)
        #expect(
            mistakes(
                source(nil, "\(Self.entra)/common", tenants),
                source("b", "https://contoso.ciamlogin.com/\(TestProvider.tenant)")) == [])
        #expect(mistakes(source("b", "https://id.example.com"), source("b", "https://id.example.org")).count == 1)
        #expect(
            mistakes(source("a", "https://id.example.com"), source("b", "https://id.example.com")).first?.contains(
                "another source has the document") == true)
    }

    @Test func `P-5 An issuer for many tenants needs a list of tenants`() {
        #expect(
            mistakes(source("work", "\(Self.entra)/organizations")).first?.contains("TASKS_SOURCE_WORK_TENANTS") == true
        )
        #expect(mistakes(source(nil, "\(Self.entra)/organizations", tenants)) == [])
    }

    @Test func `P-14 Only one source has bare owners, and beside others those are GUIDs`() {
        let first = source(nil, "https://id.example.com") { $0.rules.owner.claim = .other("sub") }
        #expect(mistakes(first) == [])
        #expect(mistakes(first, source("b", "https://id.example.org")).first?.contains("TASKS_OWNER_CLAIM") == true)
        let unnamed = source(nil, "https://id.example.com")
        let named = source("b", "https://id.example.org") { $0.owners = .bare }
        #expect(mistakes(unnamed, named).first?.contains("TASKS_SOURCE_B_OWNERS") == true)
        #expect(mistakes(named) == [])
    }

    @Test func `P-15 Owners are shared only by oid, within one tenant, with a source that has a namespace`() {
        let base = source(nil, "https://contoso.ciamlogin.com/\(TestProvider.tenant)")
        func sharing(_ authority: String, with name: String? = nil, _ change: (inout TokenSource) -> Void = { _ in })
            -> [String]
        {
            mistakes(
                base,
                source("b", authority) { source in
                    source.owners = .shared(with: name)
                    change(&source)
                })
        }
        let same = "\(Self.entra)/\(TestProvider.tenant)"
        #expect(sharing(same) == [])
        #expect(sharing("https://contoso.b2clogin.com/contoso.onmicrosoft.com") == [])
        #expect(
            sharing("https://contoso.b2clogin.com/\(TestProvider.otherTenant)").first?.contains("within one tenant")
                == true)
        let nameless = mistakes(
            source(nil, "https://contoso.b2clogin.com/contoso.onmicrosoft.com"),
            source("b", "https://contoso.ciamlogin.com") { $0.owners = .shared(with: nil) })
        #expect(nameless.count == 1 && nameless[0].contains("TASKS_SOURCE_B_AUTHORITY"), "\(nameless)")
        #expect(
            sharing("https://contoso.ciamlogin.com") { $0.documents[0].rules.pinnedIssuer = "https://id.example.com/" }
                .first?.contains("within one tenant") == true)
        #expect(sharing("\(Self.entra)/\(TestProvider.otherTenant)").first?.contains("within one tenant") == true)
        #expect(sharing(same, with: "c").first?.contains("no source c") == true)
        #expect(sharing(same, with: "b").count == 1)
        #expect(sharing(same) { $0.rules.owner.claim = .other("sub") }.first?.contains("by oid") == true)
        #expect(sharing("\(Self.entra)/common", tenants).first?.contains("many tenants") == true)
    }

    @Test func `P-25 A source of version 2 tokens with addresses as its only audiences is warned about`() {
        func warnings(_ audiences: [String]) -> [String] {
            let source = source("work", "\(Self.entra)/common") { source in
                source.rules.audience.accepted = audiences
                source.rules.isMicrosoft = true
            }
            return IssuerKeysConfiguration(sources: [source]).warnings
        }
        #expect(warnings(["api://a"]).first?.contains("TASKS_SOURCE_WORK_CLIENT_ID") == true)
        #expect(warnings(["api://a", "580e250c-8f26-49d0-bee8-1c078add1609"]) == [])
        #expect(warnings(["https://a", "a"]).map { $0.contains("CLIENT_ID: a is no GUID") } == [true])
        // Tokens of Azure AD B2C have the application id as well; those of Okta have what its administrator chose.
        for (policy, count) in [("b2c_1_sign_in", 1), (nil, 0)] {
            let document = MetadataDocument(
                authority: "https://contoso.b2clogin.com/contoso.onmicrosoft.com", policy: policy, pinnedIssuer: nil)
            let owner: OwnerClaim = policy == nil ? .other("sub") : .objectIdentifier
            let rules = ClaimRules(audiences: ["api://a"], ownerClaim: owner)
            let source = TokenSource(name: nil, documents: [document], rules: rules)
            #expect(IssuerKeysConfiguration(sources: [source]).warnings.count == count)
        }
    }

    @Test func `A source without a name whose provider has no oid is warned about`() {
        func warnings(_ source: TokenSource) -> [String] { IssuerKeysConfiguration(sources: [source]).warnings }
        var plain = TestProvider.keycloak.source
        #expect(warnings(plain) == [] && warnings(TestProvider.b2c.source) == [])
        plain.name = nil
        #expect(warnings(plain).first?.hasPrefix("TASKS_OWNER_CLAIM: ") == true)
        plain.rules.owner.claim = .other("sub")
        #expect(warnings(plain) == [])
    }
}
