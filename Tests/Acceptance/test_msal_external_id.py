"""MSAL Python as it comes from PyPI, against the External ID and Entra tenants of the mock, by the names of the real hosts.

The major version before the newest is tried with B2C and Entra, the two that it knows.
"""

import html
import os
import re
import socket
import unittest
import unittest.mock

import msal
import requests

import secure
import servers
from libraries import msal_before
from person import PASSWORD

USER = "alice@example.com"
TENANT = "4f5d1a2b-93c6-4e87-a1b0-2c3d4e5f6a7b"
CLIENT = "2b7d9e41-5c8f-4a03-b6e1-0f9d8c7b6a5e"
DAEMON = "d3e4f5a6-7b8c-4d9e-8f01-23456789abcd"
API = "8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f"
OBJECT = "a11ce000-0000-4000-8000-0000000000e1"
SCOPES = [f"api://{API}/Tasks.Read", f"api://{API}/Tasks.Write"]
ISSUER = f"https://{TENANT}.ciamlogin.com/{TENANT}/v2.0"
FABRIKAM = "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a"
ENTRA_CLIENT = "6a1f8c3d-2e4b-4d5f-9a7c-8b6d5e4f3a2c"
ENTRA_API = "1e9f8d7c-6b5a-4f3e-8d2c-1b0a9f8e7d6c"


class EntraServers(secure.SecureServers):
    """The authority under the name of the host of Entra, too; it has those of External ID by itself."""

    def authority_settings(self):
        settings = super().authority_settings()
        return {**settings, "MOCK_TLS_NAME": f"{settings['MOCK_TLS_NAME']},login.microsoftonline.com"}


class Hosts:
    """What lines of the hosts file do, in this process only; every other name is unknown, and remembered."""

    def __init__(self, servers):
        self.servers = servers
        self.known = ("contoso.ciamlogin.com", f"{TENANT}.ciamlogin.com", "login.microsoftonline.com")
        self.refused = []
        self.system = socket.getaddrinfo

    def look_up(self, host, port, *more, **named):
        if host in self.known:
            host = self.servers.host if port == 443 else "127.0.0.1"
        elif host not in ("localhost", "127.0.0.1", self.servers.host):
            self.refused.append(host)
            raise socket.gaierror(socket.EAI_NONAME, f"{host} is not in the hosts file of the test")
        return self.system(host, port, *more, **named)


def sign_in(url, user=USER, password=PASSWORD):
    """The answer to the client, after a person who has no browser with scripts filled in the form."""
    browser = requests.Session()
    action, form = servers.filled_in(browser.get(url, timeout=10).text, url, user, password)
    answer = browser.post(action, timeout=10, data=form)
    posted = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', answer.text)
    return {name: html.unescape(value) for name, value in posted}


class MSALExternalID(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.before = msal_before()  # pip would take the certificate of the tests, too
        cls.servers = EntraServers()
        cls.addClassCleanup(cls.servers.stop)
        cls.hosts = Hosts(cls.servers)
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, REQUESTS_CA_BUNDLE=cls.servers.certificate))
        cls.enterClassContext(unittest.mock.patch("socket.getaddrinfo", cls.hosts.look_up))

    def setUp(self):
        self.hosts.refused.clear()
        if not self.servers.may_443:
            self.fail(secure.NO_443)

    def place(self, host="contoso.ciamlogin.com"):
        return f"https://{host}:{self.servers.secure_port}"

    def signed_in(self, client, scopes=SCOPES, user=USER):
        flow = client.initiate_auth_code_flow(
            scopes, redirect_uri="http://localhost:5999", response_mode="form_post", login_hint=user)
        return client.acquire_token_by_auth_code_flow(flow, sign_in(flow["auth_uri"], user))

    def task_server(self, tenant, issuer, api):
        return self.servers.another_page(
            TASKS_AUTHORITY="", TASKS_POLICIES="", TASKS_ISSUER=issuer, TASKS_CLIENT_ID=api,
            TASKS_METADATA_URL=f"{self.servers.secure}/{tenant}/v2.0/.well-known/openid-configuration",
            TASKS_CA_FILE=self.servers.certificate)

    def test_p36_the_six_forms_of_the_authority(self):
        for form in (
            "https://contoso.ciamlogin.com", "https://contoso.ciamlogin.com/", f"{self.place()}/",
            "https://contoso.ciamlogin.com/contoso.onmicrosoft.com", f"https://contoso.ciamlogin.com/{TENANT}",
            f"https://{TENANT}.ciamlogin.com/{TENANT}",
        ):
            with self.subTest(form):
                client = msal.PublicClientApplication(CLIENT, authority=form)
                result = self.signed_in(client)
                self.assertNotIn("error", result)
                self.check(client, result)
        self.assertEqual(self.hosts.refused, [])

    def check(self, client, result):
        """Tokens and account are as MSAL expects them of External ID, and renew without a person."""
        claims = result["id_token_claims"]
        self.assertEqual([claims[name] for name in ("iss", "tid", "oid", "ver")], [ISSUER, TENANT, OBJECT, "2.0"])
        [account] = client.get_accounts()
        self.assertEqual(account["home_account_id"], f"{OBJECT}.{TENANT}")
        self.assertEqual(account["username"], USER)
        self.assertEqual(account["realm"], TENANT)
        cached = client.acquire_token_silent(SCOPES, account)
        self.assertEqual(cached["access_token"], result["access_token"])
        renewed = client.acquire_token_silent(SCOPES, account, force_refresh=True)
        self.assertEqual(renewed["token_source"], "identity_provider")
        self.assertNotEqual(renewed["access_token"], result["access_token"])

    def test_p36_without_the_hosts_file(self):
        client = msal.PublicClientApplication(CLIENT, oidc_authority=f"{self.servers.secure}/{TENANT}/v2.0")
        result = self.signed_in(client)
        self.check(client, result)
        with self.task_server(TENANT, ISSUER, API) as page:
            self.assertEqual(secure.use(page, result["access_token"], "Signed in"), ["Signed in"])

    def test_p36_entra_by_id_and_by_domain_and_common(self):
        for form in (FABRIKAM, "fabrikam.onmicrosoft.com", "common", "organizations"):
            with self.subTest(form):
                client = msal.PublicClientApplication(
                    ENTRA_CLIENT, authority=f"https://login.microsoftonline.com/{form}")
                result = self.signed_in(client, [f"api://{ENTRA_API}/Tasks.Read"], "alice@fabrikam.com")
                self.assertNotIn("error", result)
                claims = result["id_token_claims"]
                self.assertEqual(claims["iss"], f"https://login.microsoftonline.com/{FABRIKAM}/v2.0")
                [account] = client.get_accounts()
                self.assertTrue(account["home_account_id"].endswith(f".{FABRIKAM}"), account)
        self.assertEqual(self.hosts.refused, [])

    def sign_in_with_the_version_before(self, authority, client_id, scopes, user, control=""):
        """Signs in, and returns the token that the library renews by itself."""
        before = self.servers.count_sent("grant_type=refresh_token", control)
        client = self.before.PublicClientApplication(client_id, authority=authority)
        redirect = "http://localhost:5999"
        url = client.get_authorization_request_url(scopes, redirect_uri=redirect, login_hint=user)
        url += "&response_mode=form_post"  # so that no server has to listen at the redirect URI
        result = client.acquire_token_by_authorization_code(sign_in(url, user)["code"], scopes, redirect_uri=redirect)
        self.assertNotIn("error", result)
        [account] = client.get_accounts()
        cached = client.acquire_token_silent(scopes, account)
        self.assertEqual(cached["access_token"], result["access_token"])
        renewed = client.acquire_token_silent(scopes, account, force_refresh=True)
        self.assertEqual(self.servers.count_sent("grant_type=refresh_token", control), before + 1)
        return renewed["access_token"]

    def test_the_major_version_before_at_b2c(self):
        scopes = ["https://contoso.onmicrosoft.com/tasks/tasks.read"]
        authority = f"{self.servers.secure}/{servers.TENANT}/b2c_1_sign_in"
        token = self.sign_in_with_the_version_before(authority, servers.CLIENT, scopes, USER)
        self.assertEqual(secure.use(self.servers.page, token, "Signed in"), ["Signed in"])

    def test_the_major_version_before_at_entra(self):
        authority = f"https://login.microsoftonline.com/{FABRIKAM}"
        scopes = [f"api://{ENTRA_API}/Tasks.Read", f"api://{ENTRA_API}/Tasks.Write"]
        token = self.sign_in_with_the_version_before(
            authority, ENTRA_CLIENT, scopes, "alice@fabrikam.com", "?profile=entra")
        with self.task_server(FABRIKAM, f"https://login.microsoftonline.com/{FABRIKAM}/v2.0", ENTRA_API) as page:
            self.assertEqual(secure.use(page, token, "Signed in"), ["Signed in"])

    def test_a_device_without_a_browser(self):
        client = msal.PublicClientApplication(CLIENT, authority=f"{self.place()}/")
        flow = client.initiate_device_flow(SCOPES)
        self.assertIn("user_code", flow, flow)
        self.assertEqual(client.acquire_token_by_device_flow({**flow, "expires_at": 0})["error"], "authorization_pending")
        answer = requests.post(flow["verification_uri"], timeout=10, data={
            "user_code": flow["user_code"], "signInName": USER, "password": PASSWORD, "action": "continue"})
        self.assertIn("You have signed in", answer.text)
        self.check(client, client.acquire_token_by_device_flow(flow))

    def test_a_daemon(self):
        client = msal.ConfidentialClientApplication(
            DAEMON, client_credential="mock-secret", authority="https://contoso.ciamlogin.com/")
        result = client.acquire_token_for_client([f"api://{API}/.default"])
        self.assertIn("access_token", result, result.get("error_description"))

    def test_p37_errors_as_msal_shows_them(self):
        client = msal.PublicClientApplication(CLIENT, authority="https://contoso.ciamlogin.com/")
        with self.assertWarns(DeprecationWarning):
            refused = client.acquire_token_by_username_password(USER, PASSWORD, SCOPES)
        self.assertEqual(refused["error"], "unauthorized_client")
        self.assertTrue(refused["error_description"].startswith(f"AADSTS{refused['error_codes'][0]}: "), refused)
        for authority in ("https://contoso.ciamlogin.com/other.onmicrosoft.com", "https://login.microsoftonline.com/other"):
            with self.subTest(authority), self.assertRaises(ValueError):
                self.signed_in(msal.PublicClientApplication(CLIENT, authority=authority))
