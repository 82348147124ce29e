import Basics
import MockAuthority

extension ClientSettings {
    /// Lines of `helpers/Constants.java` of the Android sample.
    ///
    /// Its ADAL, 2.0.1-alpha, takes http and keeps the port, since the sample turns the validation of authorities off.
    var android: String {
        let authority = "\(base.forEmulator)/\(configuration.tenant.name)/"
        return """
            // Constants.java of the Android sample, in the emulator, which calls your machine 10.0.2.2. Its ADAL takes http.
            // With https the mock needs MOCK_TLS_NAME=10.0.2.2, and the emulator must trust its ca.pem as a user certificate.
            public static String AUTHORITY_URL = "\(authority)";
            public static String CLIENT_ID = "\(client)";
            public static String[] SCOPES = {"\(client)"};
            public static String[] ADDITIONAL_SCOPES = {""};
            public static String REDIRECT_URL = "\(Self.redirectOfAndroid)";
            public static String POLICY = "\(policy(.signIn))";
            public static String SERVICE_URL = "\(tasks.forEmulator)/tasks";
            """
    }

    private static let redirectOfAndroid = "mstodo://com.microsoft.windowsazure.activedirectory.samples.microsofttasks"

    /// The members of `Globals.cs` of the WPF sample, of 2015 and of 2016.
    var wpf: String {
        """
        // Globals.cs of the WPF sample. Its ADAL, later MSAL, takes https only, and this host without asking the internet:
        // 1. Start the mock with MOCK_STATE=state/mock MOCK_TLS_LISTEN=127.0.0.1:443 MOCK_TLS_NAME=\(Self.trustedHost)
        // 2. In C:\\Windows\\System32\\drivers\\etc\\hosts:  127.0.0.1 \(Self.trustedHost)
        // 3. Trust its certificate:  certutil -addstore -f Root ca.pem
        public static string taskServiceUrl = "\(tasks)";
        public static string aadInstance = "https://\(Self.trustedHost)/";
        public static string redirectUri = "urn:ietf:wg:oauth:2.0:oob";
        public static string tenant = "\(configuration.tenant.name)";
        public static string clientId = "\(client)";
        public static string signInPolicy = "\(policy(.signIn))";
        public static string signUpPolicy = "\(policy(.signUp))";
        public static string editProfilePolicy = "\(policy(.editProfile))";
        """
    }

    /// Lines of `appSettings` in `Web.config` of the MVC sample: those of 2016, those of 2015 in a comment.
    ///
    /// The sample of 2016 reads tokens from the authorization response only; that of 2015 has a secret, redeems the code
    /// with ADAL, and finds the policy in `acr`, as tokens had it then.
    var mvc: String {
        let metadata = "\(secureBase)/{0}/v2.0/.well-known/openid-configuration?p={1}"
        return """
            <!-- appSettings in Web.config of the MVC sample (2016). The mock serves https with MOCK_STATE=state/mock
                 MOCK_TLS_LISTEN=127.0.0.1:8443; trust it with: certutil -addstore -f Root ca.pem -->
            <add key="ida:Tenant" value="\(configuration.tenant.name)" />
            <add key="ida:ClientId" value="\(client)" />
            <add key="ida:AadInstance" value="\(metadata)" />
            <add key="ida:RedirectUri" value="https://localhost:44316/" />
            <add key="ida:SignUpPolicyId" value="\(policy(.signUp))" />
            <add key="ida:SignInPolicyId" value="\(policy(.signIn))" />
            <add key="ida:UserProfilePolicyId" value="\(policy(.editProfile))" />
            <add key="api:TaskServiceUrl" value="\(tasks)" />
            <!-- The version of 2015 has these values instead. Its ADAL needs the mock on port 443 of this host, as the WPF
                 sample does; it reads the policy from acr, so start the mock with MOCK_ERA=preview2015, and task-server with
                 TASKS_CLIENT_ID="\(confidential.id)".
            <add key="ida:ClientId" value="\(confidential.id)" />
            <add key="ida:ClientSecret" value="\(confidential.secret ?? "")" />
            <add key="ida:AadInstance" value="https://\(Self.trustedHost)/{0}{1}{2}" />
            -->
            """
    }

    private var confidential: Client {
        configuration.applications.clients.first { $0.secret != nil } ?? Client(id: client)
    }
}

extension String {
    /// The URL as the Android emulator has to write it, where this machine's loopback is 10.0.2.2.
    fileprivate var forEmulator: String {
        guard let address = WebAddress(self), address.isLoopback else { return self }
        let origin = "\(address.isEncrypted ? "https" : "http")://10.0.2.2:\(address.port)"
        return ([origin] + address.path).joined(separator: "/")
    }
}
