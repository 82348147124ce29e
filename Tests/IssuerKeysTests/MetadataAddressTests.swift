import IssuerKeys
import Testing

@Suite("The address of the metadata follows from authority and policy (V-73)", .timeLimit(.minutes(15)))
struct MetadataAddressTests {
    @Test(
        "Every spelling of the authority leads to the path form",
        arguments: [
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com",
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com/",
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com//",
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0",
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0/",
            "https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration",
        ])
    func pathForm(authority: String) {
        #expect(
            MetadataAddress.of(authority: authority, policy: "b2c_1_sign_in")
                == "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_sign_in/v2.0/.well-known/openid-configuration"
        )
    }

    @Test(
        "The old hosts take the policy as a query",
        arguments: ["", "/", "/v2.0/"])
    func queryForm(ending: String) {
        #expect(
            MetadataAddress.of(
                authority: "https://Login.MicrosoftOnline.com/contoso.onmicrosoft.com" + ending, policy: "b2c_1_sign_in"
            )
                == "https://Login.MicrosoftOnline.com/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration"
                + "?p=b2c_1_sign_in")
    }

    @Test("The tfp form is kept, mocks are like new hosts, policies are encoded, and may be missing")
    func otherForms() {
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

    @Test("A tenant given as a GUID is known, a domain is not (V-74)")
    func tenant() {
        let authority = "https://contoso.b2clogin.com/775527FF-9a37-4307-8b3d-cc311f58d925/v2.0"
        #expect(
            MetadataAddress.tenantIdentifier(ofAuthority: authority) == "775527ff-9a37-4307-8b3d-cc311f58d925")
        #expect(MetadataAddress.tenantIdentifier(ofAuthority: "https://contoso.b2clogin.com/contoso.com") == nil)
        #expect(
            MetadataAddress.tenantIdentifier(ofAuthority: "https://x/775527gg-9a37-4307-8b3d-cc311f58d925") == nil)
    }
}
