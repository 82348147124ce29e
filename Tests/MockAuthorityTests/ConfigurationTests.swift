import JSON
@testable import MockAuthority
import Testing

@Suite("A configuration file replaces what it names")
struct ConfigurationTests {
    private func read(_ text: String) throws(InputError) -> Configuration {
        try Configuration(parsing: Array(text.utf8))
    }

    @Test func `A file can name everything`() throws {
        let configuration = try read(
            """
            {"tenant":{"name":"fabrikam.onmicrosoft.com","id":"11111111-2222-4333-8444-555555555555"},
             "issuer":"https://login.fabrikam.test",
             "policies":[{"name":"B2C_1A_Susi","kind":"sign-up-or-sign-in","issuer":"tfp"}],
             "clients":[{"id":"c-1","secret":"s","redirectURIs":["https://app.test/cb"],"singlePage":true}],
             "resources":[{"identifier":"https://fabrikam.onmicrosoft.com/api","audience":"c-2","scopes":["read"]}],
             "users":[{"objectID":"ABCDEF00-0000-4000-8000-000000000000","email":"carol@fabrikam.test","password":"p",
                       "name":"Carol","claims":{"extension_level":3},"disabled":false}]}
            """)
        #expect(configuration.tenant.name == "fabrikam.onmicrosoft.com")
        let policy = try #require(configuration.policy(named: "b2c_1a_susi"))
        #expect(
            configuration.issuer(of: policy)
                == "https://login.fabrikam.test/tfp/11111111-2222-4333-8444-555555555555/b2c_1a_susi/v2.0/")
        #expect(configuration.applications.clients.first?.singlePage == true)
        #expect(configuration.users.first?.objectID == "abcdef00-0000-4000-8000-000000000000")
        #expect(configuration.users.first?.claims["extension_level"]?.integer == 3)
    }

    @Test func `What a file does not name keeps its default`() throws {
        let configuration = try read(#"{"users":[{"email":"carol@example.com"}]}"#)
        #expect(configuration.tenant == .contoso && configuration.policies == Policy.defaults)
        #expect(configuration.users.map(\.email) == ["carol@example.com"])
    }

    @Test(arguments: [
        ("[]", "the file must be a JSON object"),
        ("{", "Not JSON at byte"),
        (#"{"polices":[]}"#, "has a member 'polices'"),
        (#"{"policies":[]}"#, "at least one policy"),
        (#"{"policies":[{"name":"x","kind":"dance"}]}"#, "'kind' of policies[0] must be one of"),
        (#"{"users":[{"email":7}]}"#, "'email' of users[0] must be a string"),
        (#"{"clients":[{"id":"x","redirectURIs":"y"}]}"#, "must be an array of strings"),
        (#"{"tenant":{"name":""}}"#, "must be a string that is not empty"),
        (#"{"externalID":{"policies":[]}}"#, "has a member 'policies'"), (#"{"entra":{}}"#, "'entra' of the file"),
        (#"{"externalID":{"clients":[]}}"#, "at least one client"),
    ])
    func `A wrong file is refused with one message that names the place`(text: String, message: String) {
        let mistake = #expect(throws: InputError.self) { try read(text) }
        #expect(mistake?.message.contains(message) == true)
    }

    @Test func `What a file does not name of a tenant of External ID or Entra stays as in the documentation`() throws {
        let text = """
            {"externalID":{"tenant":{"name":"woodgrove.onmicrosoft.com","id":"11111111-2222-4333-8444-555555555555"},
                           "clients":[{"id":"c-1","redirectURIs":["https://app.test/cb"]}]},
             "entra":[{"users":[{"email":"carol@fabrikam.test"}]}]}
            """
        let configuration = try read(text)
        #expect(configuration.tenant == .contoso && configuration.entraTenants.count == 2)
        let external = try #require(configuration.externalTenant)
        #expect(external.profile == .externalID && external.applications.clients.map(\.id) == ["c-1"])
        #expect(external.applications.resources == Configuration.externalID.applications.resources)
        let id = "11111111-2222-4333-8444-555555555555"
        #expect(configuration.hostNames == ["woodgrove.ciamlogin.com", "\(id).ciamlogin.com"])
        let entra = configuration.entraTenants[1]
        #expect(entra.profile == .entra && entra.users.map(\.email) == ["carol@fabrikam.test"])
    }
}
