// Constants.java of the Android sample, in the emulator, which calls your machine 10.0.2.2. Its ADAL takes http.
// With https the mock needs MOCK_TLS_NAME=10.0.2.2, and the emulator must trust its ca.pem as a user certificate.
public static String AUTHORITY_URL = "@baseInEmulator@/@tenant@/";
public static String CLIENT_ID = "@client@";
public static String[] SCOPES = {"@client@"};
public static String[] ADDITIONAL_SCOPES = {""};
public static String REDIRECT_URL = "mstodo://com.microsoft.windowsazure.activedirectory.samples.microsofttasks";
public static String POLICY = "@signIn@";
public static String SERVICE_URL = "@tasksInEmulator@/tasks";
