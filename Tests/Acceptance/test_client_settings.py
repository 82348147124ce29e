"""What `mock-authority client-settings` prints, read as each sample reads it and held against what its library accepts."""

import json
import plistlib
import re
import subprocess
import unittest
import urllib.parse
import urllib.request
import xml.etree.ElementTree

from replay import era_servers
from servers import CLIENT, ROOT, TENANT

POLICIES = {"b2c_1_sign_up", "b2c_1_sign_in", "b2c_1_facebook", "b2c_1_edit_profile"}
# Those that ADAL, and the first MSAL for .NET, trust without asking login.windows.net.
TRUSTED = ["login.windows.net", "login.chinacloudapi.cn", "login.cloudgovapi.us", "login.microsoftonline.com"]


def printed(kind, *arguments):
    command = [ROOT / ".build/debug/mock-authority", "client-settings", "--for", kind, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def assignments(text):
    """Name and value of the lines `public static … name = "value";`."""
    return dict(re.findall(r'^public static \S+ (\w+) = (.+);$', text, re.M))


class ClientSettingsTest(unittest.TestCase):
    def check_trusted(self, authority):
        """`canonicalizeAuthority`: https, a tenant, and host and tenant are all that is left of it."""
        url = urllib.parse.urlsplit(authority)
        self.assertEqual((url.scheme, url.port), ("https", None))
        self.assertIn(url.hostname, TRUSTED)
        self.assertEqual(url.path.split("/")[1], TENANT)

    def check_reachable(self, authority, policy):
        """The authority of the tests knows the tenant and the policy of the settings."""
        path = f"{urllib.parse.urlsplit(authority).path.rstrip('/')}/v2.0/.well-known/openid-configuration?p={policy}"
        port = era_servers("current").ports[1]
        answer = subprocess.run(
            ["curl", "--silent", "--fail", "--output", "/dev/null", f"http://127.0.0.1:{port}{path}"], check=False)
        self.assertEqual(answer.returncode, 0, path)

    def test_ios_with_adal(self):
        text = printed("ios-adal")
        settings = plistlib.loads(text.encode())
        self.check_trusted(settings["authority"])
        # Scopes are made lower case and compared with the client id as it is; then it must be the only one.
        self.assertEqual([scope.lower() for scope in settings["scopes"]], [settings["clientId"]])
        # No value of it suits every version but none.
        self.assertNotIn("additionalScopes", settings)
        self.assertEqual(settings["redirectUri"], "urn:ietf:wg:oauth:2.0:oob")
        for name in ["emailSignUpPolicyId", "faceBookSignInPolicyId", "emailSignInPolicyId"]:
            self.check_reachable(settings["authority"], settings[name])
        self.assertEqual(settings["taskWebAPI"], "http://localhost:3000/tasks")
        for word in ["MOCK_TLS_LISTEN=ADDRESS:443", "MOCK_ALLOW_REMOTE=true", "MOCK_TLS_NAME=login.microsoftonline.com",
                     "/etc/hosts", "ca.pem", "xcrun simctl", "DNS server", "Certificate", "http://ADDRESS:3000/tasks"]:
            self.assertIn(word, text)

    def test_ios_with_nxoauth2(self):
        for arguments in [[], ["--tls-listen", "127.0.0.1:8443", "--state", "/nowhere"]]:
            settings = plistlib.loads(printed("ios-nxoauth2", *arguments).encode())
            for name in ["authURL", "tokenURL"]:
                url = urllib.parse.urlsplit(settings[name])
                self.assertEqual(url.query, "p=b2c_1_sign_in")
            self.assertTrue(settings["authURL"].startswith("https://localhost:8443/" if arguments else "http://"))
            self.assertEqual((settings["clientID"], settings["clientSecret"]), (CLIENT, ""))
            self.assertEqual(settings["taskAPI"], "http://localhost:3000")

    def test_ios_with_nxoauth2_and_servers_on_another_machine(self):
        text = printed("ios-nxoauth2", "--allow-remote", "true", "--listen", "192.0.2.10:3001", "--tasks-url", "http://192.0.2.10:3000")
        settings = plistlib.loads(text.encode())
        for name in ["authURL", "loginURL", "tokenURL"]:
            self.assertTrue(settings[name].startswith(f"http://192.0.2.10:3001/{TENANT}/"), settings[name])
        self.assertEqual(settings["taskAPI"], "http://192.0.2.10:3000")
        for word in ["MOCK_ALLOW_REMOTE=true", "MOCK_LISTEN=ADDRESS:3001", "TASKS_ALLOW_HTTP_AUTHORITY=true"]:
            self.assertIn(word, text)

    def test_android(self):
        settings = assignments(printed("android").replace("String[]", "String"))
        authority = settings["AUTHORITY_URL"].strip('"')
        self.assertEqual(authority, f"http://10.0.2.2:3001/{TENANT}/")
        self.check_reachable(authority, settings["POLICY"].strip('"'))
        self.assertEqual(settings["SCOPES"], f'{{"{CLIENT}"}}')
        self.assertEqual(settings["SERVICE_URL"], '"http://10.0.2.2:3000/tasks"')
        self.assertTrue(settings["REDIRECT_URL"].startswith('"mstodo://'))

    def test_msal_for_android_at_b2c(self):
        """`account_mode` is MULTIPLE there, as the library demands, and MSAL takes https only."""
        settings = json.loads(printed("msal-android"))
        (authority,) = settings["authorities"]
        self.assertEqual((settings["client_id"], settings["account_mode"], authority["type"]), (CLIENT, "MULTIPLE", "B2C"))
        self.assertEqual(authority["authority_url"], f"https://10.0.2.2:8443/tfp/{TENANT}/b2c_1_sign_in/")
        self.check_signs_in(authority["authority_url"], settings["redirect_uri"], "msauth://com.example.tasks/")

    def test_msal_for_ios_at_b2c(self):
        text = printed("msal-ios")
        authority, redirect = (re.search(rf'{name}: (?:URL\(string: )?"([^"]+)"', text)[1] for name in ["url", "redirectUri"])
        self.assertEqual(authority, f"https://localhost:8443/tfp/{TENANT}/b2c_1_sign_in")
        self.assertIn("configuration.knownAuthorities = [authority]", text)
        self.check_signs_in(authority, redirect, "msauth.com.example.tasks://auth")

    def check_signs_in(self, authority, redirect, expected):
        """The mock, which is asked by http here, shows the page of the policy to a client with these settings."""
        self.assertTrue(redirect.startswith(expected), redirect)
        query = urllib.parse.urlencode({"client_id": CLIENT, "response_type": "code", "redirect_uri": redirect, "scope": f"openid {CLIENT}",
                                        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256"})
        url = f"http://127.0.0.1:{era_servers('current').ports[1]}{urllib.parse.urlsplit(authority).path.rstrip('/')}/oauth2/v2.0/authorize"
        with urllib.request.urlopen(f"{url}?{query}", timeout=30) as answer:
            self.assertIn('type="password"', answer.read().decode())

    def test_wpf(self):
        settings = {name: value.strip('"') for name, value in assignments(printed("wpf")).items()}
        self.check_trusted(settings["aadInstance"] + settings["tenant"])
        for name in ["signInPolicy", "signUpPolicy", "editProfilePolicy"]:
            self.check_reachable(settings["aadInstance"] + settings["tenant"], settings[name])
        self.assertEqual(settings["taskServiceUrl"], "http://localhost:3000")

    def test_mvc(self):
        text = printed("mvc")
        settings = {
            add.get("key"): add.get("value")
            for add in xml.etree.ElementTree.fromstring(f"<appSettings>{text}</appSettings>")}
        address = settings["ida:AadInstance"].format(settings["ida:Tenant"], settings["ida:SignInPolicyId"])
        self.assertEqual(
            address, f"https://localhost:8443/{TENANT}/v2.0/.well-known/openid-configuration?p=b2c_1_sign_in")
        policies = {settings[f"ida:{name}PolicyId"] for name in ["SignUp", "SignIn", "UserProfile"]}
        self.assertLessEqual(policies, POLICIES)
        self.assertEqual(len(policies), 3)
        # Those of 2015, in the comment: metadata, authority.
        older = re.search('ida:AadInstance" value="(https://login[^"]+)"', text)[1]
        self.check_trusted(older.replace("{0}{1}{2}", settings["ida:Tenant"]))
