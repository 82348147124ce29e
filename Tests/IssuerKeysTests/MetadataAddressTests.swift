import IssuerKeys
import Testing

@Suite("The address of the metadata follows from authority and policy (V-73)")
struct MetadataAddressTests {
    @Test(arguments: [
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com",
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com/",
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com//",
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0",
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0/",
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration",
    ])
    func `Every spelling of the authority leads to the path form`(authority: String) {
        #expect(
            MetadataAddress.of(authority: authority, policy: "b2c_1_sign_in")
                == "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_sign_in/v2.0/.well-known/openid-configuration"
        )
    }

    @Test(arguments: ["", "/", "/v2.0/"])
    func `The old hosts take the policy as a query`(ending: String) {
        #expect(
            MetadataAddress.of(
                authority: "https://Login.MicrosoftOnline.com/contoso.onmicrosoft.com" + ending, policy: "b2c_1_sign_in"
            )
                == "https://Login.MicrosoftOnline.com/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration"
                + "?p=b2c_1_sign_in")
    }

    @Test func `The tfp form is kept, mocks are like new hosts, policies are encoded, and may be missing`() {
        #expect(
            MetadataAddress.of(authority: "https://localhost:8443/tfp/contoso.onmicrosoft.com", policy: "b2c_1a_x")
                == "https://localhost:8443/tfp/contoso.onmicrosoft.com/b2c_1a_x/v2.0/.well-known/openid-configuration")
        #expect(
            MetadataAddress.of(authority: "https://login.microsoftonline.com/t", policy: "a&b/c é")
                == "https://login.microsoftonline.com/t/v2.0/.well-known/openid-configuration?p=a%26b%2Fc%20%C3%A9")
        #expect(
            MetadataAddress.of(authority: "https://a.example/t", policy: nil)
                == "https://a.example/t/v2.0/.well-known/openid-configuration")
    }

    @Test func `A tenant given as a GUID is known, a domain is not (V-74)`() {
        let authority = "https://contoso.b2clogin.com/775527FF-9a37-4307-8b3d-cc311f58d925/v2.0"
        #expect(
            MetadataAddress.tenantIdentifier(ofAuthority: authority) == "775527ff-9a37-4307-8b3d-cc311f58d925")
        #expect(MetadataAddress.tenantIdentifier(ofAuthority: "https://contoso.b2clogin.com/contoso.com") == nil)
        #expect(
            MetadataAddress.tenantIdentifier(ofAuthority: "https://x/775527gg-9a37-4307-8b3d-cc311f58d925") == nil)
    }

    @Test(
        "P-3 External ID is found by its host alone, and every other form of its authority is kept",
        arguments: [
            "https://contoso.ciamlogin.com": "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
            "https://contoso.ciamlogin.com/": "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
            "https://contoso.ciamlogin.com/v2.0": "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
            "https://contoso.ciamlogin.com:8443/": "https://contoso.ciamlogin.com:8443/contoso.onmicrosoft.com",
            "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/":
                "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
            "https://contoso.ciamlogin.com/775527ff-9a37-4307-8b3d-cc311f58d925/v2.0":
                "https://contoso.ciamlogin.com/775527ff-9a37-4307-8b3d-cc311f58d925",
            "https://login.contoso.com/": "https://login.contoso.com",
            "https://evilciamlogin.com/": "https://evilciamlogin.com",
            "https://login.microsoftonline.com/organizations": "https://login.microsoftonline.com/organizations",
        ])
    func externalID(authority: String, base: String) {
        #expect(
            MetadataAddress.of(authority: authority, policy: nil) == "\(base)/v2.0/.well-known/openid-configuration")
        #expect(MetadataAddress.base(ofAuthority: authority) == "\(base)/v2.0")
    }

    @Test func `P-3 A query stays`() {
        let end = "v2.0/.well-known/openid-configuration"
        #expect(
            MetadataAddress.of(authority: "https://contoso.ciamlogin.com/?dc=ESTS-PUB-1", policy: nil)
                == "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/\(end)?dc=ESTS-PUB-1")
        #expect(
            MetadataAddress.of(authority: "https://login.microsoftonline.com/t/v2.0/?appid=a&b=c", policy: nil)
                == "https://login.microsoftonline.com/t/\(end)?appid=a&b=c")
        #expect(
            MetadataAddress.of(authority: "https://login.microsoftonline.com/t?x=y", policy: "b2c_1_a")
                == "https://login.microsoftonline.com/t/\(end)?p=b2c_1_a&x=y")
        let tenant = MetadataAddress.tenantIdentifier(
            ofAuthority: "https://h.example/?x=/775527ff-9a37-4307-8b3d-cc311f58d925")
        #expect(tenant == nil)
    }
}
