import MockAuthority

extension ClientSettings {
    /// The only host that ADAL and the first MSAL for .NET believe without asking the internet and that B2C used.
    static let trustedHost = "login.microsoftonline.com"

    /// The members of the ADAL sample's settings.plist, in its order.
    ///
    /// `additionalScopes` is not among them: ADAL of 2015 refuses an empty list of them, later ones a list of an empty
    /// text, and all take none.
    var adal: [(String, PropertyList.Value)] {
        let user = configuration.users.first?.email ?? "alice@example.com"
        return [
            ("authority", .text("https://\(Self.trustedHost)/\(configuration.tenant.name)/")),
            // ADAL compares it with the scopes after it made those lower case.
            ("clientId", .text(client.lowercased())), ("scopes", .texts([client.lowercased()])),
            ("redirectUri", .text("urn:ietf:wg:oauth:2.0:oob")), ("userId", .text(user)),
            ("taskWebAPI", .text("\(tasks)/tasks")), ("emailSignUpPolicyId", .text(policy(.signUp))),
            ("faceBookSignInPolicyId", .text(policy(.facebook))), ("emailSignInPolicyId", .text(policy(.signIn))),
            ("fullScreen", .truth(false)), ("showClaims", .truth(true)),
        ]
    }

    static let commentOfADAL = """
        settings.plist of the sample for iOS with ADAL. ADAL takes an authority by https only, drops its port, and trusts
        this host without asking the internet. So the mock has to be there:

        1. Start it with MOCK_STATE=state/mock MOCK_TLS_LISTEN=127.0.0.1:443 MOCK_TLS_NAME=login.microsoftonline.com
        2. In the hosts file of the Mac (/etc/hosts):  127.0.0.1 login.microsoftonline.com
        3. Trust its certificate in the simulator:     xcrun simctl keychain booted add-root-cert state/mock/ca.pem

        Until the line in the hosts file is removed, the Mac reaches the mock in place of Microsoft. For a phone, see
        "The iOS apps with ADAL" in docs/connect-a-client.md.
        """

    /// The members of the NXOAuth2 sample's settings.plist, in its order and its spelling.
    var nxoauth2: [(String, PropertyList.Value)] {
        let name = policy(.signIn)
        let authority = "\(base)/\(configuration.tenant.name)"
        return [
            ("accountIdentifier", .text("B2C_Acccount")), ("clientID", .text(client)), ("clientSecret", .text("")),
            ("authURL", .text("\(authority)/\(MockAuthority.Path.authorize)?p=\(name)")),
            ("loginURL", .text("\(authority)/login")), ("bhh", .text("urn:ietf:wg:oauth:2.0:oob")),
            ("tokenURL", .text("\(authority)/\(MockAuthority.Path.token)?p=\(name)")),
            ("keychain", .text("com.microsoft.azureactivedirectory.samples.graph.QuickStart")),
            ("contentType", .text("application/x-www-form-urlencoded")), ("taskAPI", .text(tasks)),
            ("kIDMOAuth2SuccessPagePrefix", .text("session_state=")),
        ]
    }

    static let commentOfNXOAuth2 = """
        settings.plist of the sample for iOS with NXOAuth2, in the simulator. It takes http and https, any host and any
        port; over https the simulator must trust the mock's ca.pem (xcrun simctl keychain booted add-root-cert FILE).
        """
}
