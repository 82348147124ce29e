import IssuerKeys
import Platform
import Settings
import Support
import TaskAPI
import Testing
import Tokens

@testable import TaskServer

@Suite("Several sources of tokens in one server") struct SourceTests {
    /// A server of another tenant of B2C, whose settings name a second source.
    private static let settings = [
        "TASKS_AUTHORITY": "https://fabrikam.b2clogin.com/fabrikam.onmicrosoft.com", "TASKS_POLICIES": "b2c_1_a",
        "TASKS_CLIENT_ID": "a", "TASKS_SOURCES": "ext", "TASKS_SOURCE_EXT_CLIENT_ID": "a",
    ]

    private static let document = ".well-known/openid-configuration"
    private static let b2c = "https://contoso.b2clogin.com/contoso.onmicrosoft.com"

    @Test(arguments: [
        [:]: "TASKS_SOURCE_EXT_AUTHORITY is not set.",
        ["AUTHORITY": "https://contoso.ciamlogin.com", "CLIENT_ID": ""]: "TASKS_SOURCE_EXT_CLIENT_ID is not set",
        ["AUTHORITY": "https://fabrikam.b2clogin.com/fabrikam.onmicrosoft.com", "POLICIES": "b2c_1_other"]:
            "is of the provider of TASKS_AUTHORITY or TASKS_METADATA_URL, and a token belongs to one source",
        ["AUTHORITY": "https://contoso.b2clogin.com/contoso.onmicrosoft.com"]: "EXT_POLICIES is not set",
        ["AUTHORITY": "https://contoso.ciamlogin.com", "POLICIES": "b2c_1_a"]: "Entra External ID has no policies",
        ["AUTHORITY": "https://login.microsoftonline.com/common/v2.0"]: "EXT_TENANTS is not set",
        ["METADATA_URL": "https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration"]:
            "EXT_TENANTS is not set",
        ["AUTHORITY": "https://contoso.ciamlogin.com", "TENANTS": "*"]:
            "EXT_TENANTS is set, but the authority is for one",
        ["AUTHORITY": "https://contoso.ciamlogin.com", "TENANTS": "contoso"]: "EXT_TENANTS: 'contoso' is not the id",
        ["AUTHORITY": "https://login.microsoftonline.com/common", "TENANTS": "*", "OWNER_CLAIM": "oid"]:
            "EXT_OWNER_CLAIM: oid identifies a person only within one tenant",
        ["METADATA_URL": "https://a.example/d", "ISSUER": "https://a.example/{tenantid}/v2.0"]: "EXT_TENANTS",
        ["AUTHORITY": "http://contoso.example"]: "TASKS_SOURCE_EXT_ALLOW_HTTP=true",
        ["AUTHORITY": "https://contoso.ciamlogin.com", "OWNERS": "bare"]: "EXT_OWNERS: another source has bare owners",
        ["METADATA_URL": "https://a.example/d", "OWNERS": "shared"]: "EXT_OWNERS: owners can be shared only if both",
        ["METADATA_URL": "https://a.example/d", "KEY_HOSTS": "https://a.example"]:
            "EXT_KEY_HOSTS: 'https://a.example' is",
        ["METADATA_URL": "\(b2c)/v2.0/\(document)"]: "is of Azure AD B2C and names no policy",
        ["METADATA_URL": "\(b2c)/b2c_1_a/v2.0/\(document)?p=b2c_1_b"]: "names two policies",
        ["METADATA_URL": "\(b2c)/b2c_1_a/v2.0/\(document),https://id.example.com/\(document)"]:
            "https://id.example.com/\(document) are of two providers",
        ["METADATA_URL": "\(b2c)/b2c_1_a/v2.0/\(document),https://contoso.b2clogin.com/other/b2c_1_a/v2.0/\(document)"]:
            "/other/b2c_1_a/v2.0/\(document) are of two providers",
        ["METADATA_URL": "https://a.example/d", "UNTIL": "2027-02-30"]: "EXT_UNTIL: '2027-02-30' is not a day",
    ])
    func `A source that cannot be trusted as it is configured is a mistake (P-1, P-2, P-5, P-14, P-15, P-16)`(
        changes: [String: String], message: String
    ) throws {
        var settings = Self.settings
        for (word, value) in changes { settings["TASKS_SOURCE_EXT_\(word)"] = value }
        let mistakes = #expect(throws: SettingMistakes.self) {
            _ = try ServerSettings.read(SettingInput(environment: settings))
        }
        #expect(mistakes?.description.contains(message) == true, "\(String(describing: mistakes))")
    }

    /// With Microsoft's rules, and with no others, a token without scopes is a token of an application (P-27).
    @Test(arguments: [
        ("https://contoso.ciamlogin.com", true), ("https://login.microsoftonline.com/contoso.com", true),
        ("https://contoso.b2clogin.com/contoso.onmicrosoft.com", false),
    ])
    func `External ID and Entra have the rules of Microsoft, B2C has its own`(
        authority: String, isMicrosoft: Bool
    ) throws {
        let settings = [
            "TASKS_AUTHORITY": authority, "TASKS_CLIENT_ID": "a", "TASKS_POLICIES": isMicrosoft ? "" : "b2c_1_a",
        ]
        let read = try ServerSettings.read(SettingInput(environment: settings))
        #expect(read.values.issuerKeys.sources.map(\.rules.isMicrosoft) == [isMicrosoft])
        // The page cannot add the version by itself.
        #expect(read.values.page.authority.hasSuffix("/v2.0") == isMicrosoft)
    }

    /// People paste the authority of their app, and MSAL's end in a policy.
    @Test(arguments: [
        (
            "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_sign_in", "",
            ["https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_sign_in/v2.0/"]
        ),
        (
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_sign_in/", "b2c_1_sign_in,b2c_1_reset",
            [
                "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_sign_in/v2.0/",
                "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_reset/v2.0/",
            ]
        ),
        (
            "https://login.contoso.com/te/contoso.onmicrosoft.com/B2C_1A_susi/v2.0", "b2c_1_reset",
            [
                "https://login.contoso.com/contoso.onmicrosoft.com/b2c_1_reset/v2.0/",
                "https://login.contoso.com/contoso.onmicrosoft.com/B2C_1A_susi/v2.0/",
            ]
        ),
    ])
    func `An authority that ends in a policy is the tenant and the policy`(
        authority: String, policies: String, documents: [String]
    ) throws {
        let settings = ["TASKS_AUTHORITY": authority, "TASKS_POLICIES": policies, "TASKS_CLIENT_ID": "a"]
        let values = try ServerSettings.read(SettingInput(environment: settings)).values
        #expect(
            values.issuerKeys.sources[0].documents.map(\.metadataURL)
                == documents.map { "\($0).well-known/openid-configuration" })
        // The page adds the policy to the authority.
        #expect(values.page.authority.hasSuffix(".com/contoso.onmicrosoft.com"))
        let page = settings.merging(["TASKS_PAGE_AUTHORITY": "http://localhost:3001/tfp/t/b2c_1_x"]) { $1 }
        let ofBrowsers = try ServerSettings.read(SettingInput(environment: page)).values.page
        #expect(ofBrowsers.authority == "http://localhost:3001/t")
    }

    @Test func `Named sources work alone, also from a file, and their defaults follow from the provider`() throws {
        let stage = try Stage()
        let ext = [
            "TASKS_AUTHORITY": "", "TASKS_POLICIES": "", "TASKS_CLIENT_ID": "", "TASKS_SOURCES": "ext",
            "TASKS_SOURCE_EXT_AUTHORITY": stage.authority, "TASKS_SOURCE_EXT_POLICIES": Stage.policies,
            "TASKS_SOURCE_EXT_CLIENT_ID": Stage.client,
        ]
        let all = [
            "TASKS_SOURCES": "ext,cloud,many,id", "TASKS_SOURCE_CLOUD_AUTHORITY": "https://contoso.ciamlogin.com",
            "TASKS_SOURCE_CLOUD_CLIENT_ID": "a",
            "TASKS_SOURCE_MANY_AUTHORITY": "https://login.microsoftonline.com/organizations",
            "TASKS_SOURCE_MANY_TENANTS": "*", "TASKS_SOURCE_MANY_CLIENT_ID": "b",
            "TASKS_SOURCE_ID_METADATA_URL": "https://id.example.com/d", "TASKS_SOURCE_ID_CLIENT_ID": "c",
        ]
        let printed = try stage.run(["--print-settings"], ext.merging(all) { $1 }).output
        for line in [
            "# source ext", "TASKS_SOURCE_EXT_AUTHORITY=\(stage.authority)  # environment",
            "TASKS_SOURCE_EXT_TOKEN_KIND=any  # default", "TASKS_SOURCE_EXT_OWNER_CLAIM=oid  # default",
            "TASKS_SOURCE_EXT_OWNERS=own  # default", "TASKS_SOURCE_CLOUD_TOKEN_KIND=access  # default",
            "TASKS_SOURCE_CLOUD_OWNER_CLAIM=oid  # default", "TASKS_SOURCE_MANY_OWNER_CLAIM=tid+oid  # default",
            "TASKS_SOURCE_ID_OWNER_CLAIM=sub  # default", "TASKS_SOURCE_ID_TOKEN_KIND=access  # default",
            "TASKS_OWNER_CLAIM=oid  # default",
        ] {
            #expect(printed.split(separator: "\n").contains { $0 == line }, "\(line) in \(printed)")
        }
        let server = try stage.server(ext)
        #expect(try server.add("named", token: stage.token()).status == 201)
        #expect(try server.stop() == .exit(0))
    }
}
