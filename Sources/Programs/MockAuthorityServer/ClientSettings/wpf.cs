// Globals.cs of the WPF sample. Its ADAL, later MSAL, takes https only, and this host without asking the internet:
// 1. Start the mock with MOCK_STATE=state/mock MOCK_TLS_LISTEN=127.0.0.1:443 MOCK_TLS_NAME=login.microsoftonline.com
// 2. In C:\Windows\System32\drivers\etc\hosts:  127.0.0.1 login.microsoftonline.com
// 3. Trust its certificate:  certutil -addstore -f Root ca.pem
public static string taskServiceUrl = "@tasks@";
public static string aadInstance = "https://login.microsoftonline.com/";
public static string redirectUri = "urn:ietf:wg:oauth:2.0:oob";
public static string tenant = "@tenant@";
public static string clientId = "@client@";
public static string signInPolicy = "@signIn@";
public static string signUpPolicy = "@signUp@";
public static string editProfilePolicy = "@editProfile@";
