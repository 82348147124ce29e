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

        1. ADDRESS is that of the machine with the servers, in a network that you trust: with MOCK_ALLOW_REMOTE, whoever
           reaches the mock can sign in as anyone. Start it there with MOCK_STATE=state/mock MOCK_ALLOW_REMOTE=true
           MOCK_TLS_LISTEN=ADDRESS:443 MOCK_TLS_NAME=login.microsoftonline.com
           and task-server with TASKS_LISTEN=ADDRESS:3000; taskWebAPI below is then http://ADDRESS:3000/tasks.
        2. The simulator takes names from the hosts file of its Mac (/etc/hosts):  ADDRESS login.microsoftonline.com
           A phone in the same network has no such file: give the network a DNS server that answers this.
        3. Trust the mock's state/mock/ca.pem. In the simulator: xcrun simctl keychain booted add-root-cert ca.pem
           On the phone: send it there, install the profile, and switch it on in Settings, General, About, Certificate
           Trust Settings.

        Until the name is given back, the Mac or the network reaches the mock in place of Microsoft. All steps, and what is
        enough where the servers are on the Mac itself: "The iOS apps with ADAL" in docs/connect-a-client.md.
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
