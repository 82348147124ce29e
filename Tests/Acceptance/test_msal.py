"""MSAL Python as it comes from PyPI, against the authority by https, then the API with its tokens."""

import os
import threading
import unittest
import unittest.mock
import urllib.parse
import webbrowser

import msal
import requests
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import secure
from person import PASSWORD
from servers import CLIENT, TENANT

USER = "alice@example.com"
SCOPES = ["https://contoso.onmicrosoft.com/tasks/tasks.read", "https://contoso.onmicrosoft.com/tasks/tasks.write"]


class Surfer(webbrowser.BaseBrowser):
    """What MSAL takes for the browser of the machine: a Chromium with a person who signs in."""

    def __init__(self, chrome, passwords):
        super().__init__("surfer")
        self.chrome = chrome
        self.passwords = passwords
        self.urls = []
        self.alerts = []
        self.failures = []

    def open(self, url, new=0, autoraise=True):
        self.urls.append(url)
        threading.Thread(target=self.sign_in, args=[url]).start()
        return True

    def sign_in(self, url):
        try:
            self.chrome.get(url)
            for password in self.passwords:
                self.chrome.until(lambda: self.chrome.one("[name=password]"), "the form")
                self.chrome.one("[name=password]").send_keys(password, Keys.ENTER)
                if password != PASSWORD:
                    self.chrome.until(lambda: self.chrome.one("[role=alert]"), "the complaint")
                    self.alerts.append(self.chrome.find_element(By.CSS_SELECTOR, "[role=alert]").text)
        except Exception as failure:
            self.failures.append(failure)


class MSAL(unittest.TestCase):
    make_servers = secure.SecureServers

    @classmethod
    def setUpClass(cls):
        cls.servers = cls.make_servers()
        cls.addClassCleanup(cls.servers.stop)
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, REQUESTS_CA_BUNDLE=cls.servers.certificate))

    def client(self, policy, base=None):
        return msal.PublicClientApplication(CLIENT, authority=f"{base or self.servers.secure}/{TENANT}/{policy}")

    def surf(self, *passwords):
        chrome = self.servers.chrome()
        self.addCleanup(chrome.quit)
        surfer = Surfer(chrome, passwords)
        webbrowser.register("surfer", None, surfer, preferred=True)
        return surfer

    def use(self, token, text):
        self.assertIn(text, secure.use(self.servers.page, token, text))

    def test_code_flow_with_pkce_in_a_browser_then_silently(self):
        surfer = self.surf("wrong", PASSWORD)
        client = self.client("b2c_1_sign_in")
        result = client.acquire_token_interactive(SCOPES, login_hint=USER, timeout=60)
        self.assertEqual(surfer.failures, [])
        self.assertNotIn("error", result)
        self.assertEqual(surfer.alerts, ["Your password is incorrect."])
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(surfer.urls[0]).query))
        self.assertEqual(query["code_challenge_method"], "S256")
        self.assertEqual(result["id_token_claims"]["nonce"], query["nonce"])
        self.assertEqual(result["id_token_claims"]["emails"], [USER])
        self.use(result["access_token"], "Signed in by a browser")

        [account] = client.get_accounts()
        cached = client.acquire_token_silent(SCOPES, account)
        self.assertEqual(cached["access_token"], result["access_token"])
        renewed = client.acquire_token_silent(SCOPES, account, force_refresh=True)
        self.assertEqual(renewed["token_source"], "identity_provider")
        self.use(renewed["access_token"], "Signed in silently")

    def test_every_form_of_the_authority(self):
        for form, options in {
            f"{TENANT}/B2C_1_sign_in": {},
            "775527ff-9a37-4307-8b3d-cc311f58d925/b2c_1_sign_in": {},
            f"tfp/{TENANT}/b2c_1_sign_in": {"instance_discovery": False},
            f"{TENANT}?p=b2c_1_sign_in": {"instance_discovery": False},
        }.items():
            with self.subTest(form):
                client = msal.PublicClientApplication(CLIENT, authority=f"{self.servers.secure}/{form}", **options)
                flow = client.initiate_auth_code_flow(
                    SCOPES, redirect_uri="http://localhost:5999", response_mode="form_post")
                self.assertIn("/oauth2/v2.0/authorize?", flow["auth_uri"])
                page = requests.get(flow["auth_uri"], timeout=10)
                self.assertEqual(page.status_code, 200)
                self.assertIn('name="signInName"', page.text)

    def test_a_confidential_client_gets_a_token_for_itself(self):
        client = msal.ConfidentialClientApplication(
            "f1d2c3b4-0a5e-4b6f-8c7d-9e0f1a2b3c4d", client_credential="mock-secret",
            authority=f"{self.servers.secure}/{TENANT}/b2c_1_sign_in")
        result = client.acquire_token_for_client(["https://contoso.onmicrosoft.com/tasks/.default"])
        self.assertIn("access_token", result, result.get("error_description"))

    def test_password_grant_right_and_wrong(self):
        if not self.servers.may_443:
            self.fail(secure.NO_443)
        client = self.client("b2c_1_ropc", f"https://{self.servers.host}")
        with self.assertWarns(DeprecationWarning):
            refused = client.acquire_token_by_username_password(USER, "wrong", SCOPES)
        self.assertEqual(refused["error"], "access_denied")
        self.assertTrue(refused["error_description"].startswith("AADB2C90225: "), refused)
        self.assertEqual(client.get_accounts(), [])
        with self.assertWarns(DeprecationWarning):
            result = client.acquire_token_by_username_password(USER, PASSWORD, SCOPES)
        self.assertNotIn("error", result)
        self.use(result["access_token"], "Signed in by a password")
        renewed = client.acquire_token_silent(SCOPES, client.get_accounts()[0], force_refresh=True)
        self.use(renewed["access_token"], "Signed in silently after a password")
