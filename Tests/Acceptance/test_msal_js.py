"""MSAL.js itself in a page in Chromium, at the three services by the names of the real hosts, then the API with its tokens.

The variable MSAL_JS chooses the version, one of those in libraries.py.
"""

import contextlib
import functools
import json
import os
import ssl
import unittest
import urllib.parse
import urllib.request

import secure
from libraries import MSAL_JS
from person import PASSWORD, Person
from servers import CLIENT, EXTERNAL_API, EXTERNAL_CLIENT, EXTERNAL_TENANT, TENANT, Handler, claims_of, serving
from test_client_settings import printed

VERSION = os.environ.get("MSAL_JS", "3.26.1")
ENTRA_TENANT = "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a"
ENTRA_CLIENT = "6a1f8c3d-2e4b-4d5f-9a7c-8b6d5e4f3a2c"
ENTRA_API = "1e9f8d7c-6b5a-4f3e-8d2c-1b0a9f8e7d6c"
HOSTS = ["contoso.b2clogin.com", "contoso.ciamlogin.com", f"{EXTERNAL_TENANT}.ciamlogin.com", "login.microsoftonline.com"]

# MSAL.js 3.26.1 comes with a component that draws itself into the element `root`.
PAGE = """<!doctype html>
<html lang="en">
<title>A page with MSAL.js</title>
<link rel="icon" href="data:,">
<div id="root"></div>
<script type="module">
  import { PublicClientApplication } from "/msal.js";
  SETTINGS
  msalConfig.auth.redirectUri = msalConfig.auth.postLogoutRedirectUri = location.origin + "/page";
  const app = new PublicClientApplication(msalConfig);
  await app.initialize();
  window.outcome = await app.handleRedirectPromise().then((result) => ({ result }), (error) => ({ error }));
  Object.assign(window, { msal: app, scopes: request.scopes });
</script>
"""
# MSAL.js reads the address of a popup or a frame itself, so the page of their redirect URI needs no script.
BLANK = '<!doctype html><html lang="en"><title>Signed in</title><link rel="icon" href="data:,">'

CALL = """
    const [method, request] = arguments;
    window.outcome = null;
    const account = method.startsWith("login") || method === "ssoSilent" ? {} : { account: msal.getAllAccounts()[0] };
    msal[method]({ ...account, scopes, ...request }).then(
      (result) => ({ result }), (error) => ({ error: { ...error, name: error.name, message: error.message } })
    ).then((outcome) => { window.outcome = JSON.parse(JSON.stringify(outcome)); });"""
ASK = """
    const [url, token, text, done] = arguments;
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const order = text ? { method: "POST", body: JSON.stringify({ task: text }) } : {};
    fetch(url, { headers, ...order }).then(async (answer) => done([answer.status, await answer.text()]));"""


@contextlib.contextmanager
def site(settings):
    """Serves a page with these settings, and the library; the address."""
    files = {
        "/msal.js": ("text/javascript", MSAL_JS[VERSION].text()), "/blank": ("text/html", BLANK.encode()),
        "/page": ("text/html", PAGE.replace("SETTINGS", settings).encode()),
    }

    class Files(Handler):
        def do_GET(self):
            self.answer(200, *files[self.path.split("?")[0]])

    with serving(Files) as port:
        yield f"http://localhost:{port}"


class IssuerFromItself(secure.SecureServers):
    """The authority names its issuers itself, as it does where no setting says otherwise."""

    def authority_settings(self):
        return {name: value for name, value in super().authority_settings().items() if name != "MOCK_ISSUER"}


@functools.cache
def servers():
    """The same servers for all classes: an authority with a new certificate takes seconds to start."""
    return IssuerFromItself()


class Page:
    """A page at one service. A subclass says which service, and who signs in."""

    user, other = "alice@example.com", "bob@example.com"
    control = ""

    make_servers = staticmethod(servers)

    @classmethod
    def setUpClass(cls):
        cls.servers = cls.make_servers()
        cls.tasks = cls.enterClassContext(cls.task_server())
        cls.site = cls.enterClassContext(site(cls.settings()))
        rules = [f"MAP {host} 127.0.0.1:{cls.servers.secure_port}" for host in HOSTS]
        rules += ["MAP * ~NOTFOUND", "EXCLUDE localhost", "EXCLUDE 127.0.0.1"]
        cls.chrome = cls.servers.chrome(f"--host-resolver-rules={','.join(rules)}")
        cls.addClassCleanup(cls.chrome.quit)
        cls.window = cls.chrome.current_window_handle
        cls.person = Person(cls.chrome, cls.site)

    @classmethod
    def settings(cls):
        return f"const msalConfig = {json.dumps({'auth': cls.auth})}, request = {json.dumps({'scopes': cls.scopes})};"

    @classmethod
    def task_server(cls):
        return cls.servers.another_page()

    def setUp(self):
        self.command("reset", {})
        self.open()
        self.forget()
        self.chrome.execute_cdp_cmd("Network.clearBrowserCookies", {})

    def command(self, name, body):
        """Sends an order to the controls of the authority, which is for the tenant of this service."""
        return self.servers.control(name + self.control, body)

    def open(self):
        self.person.open("/page")
        self.await_page()

    def await_page(self):
        self.chrome.until(lambda: self.chrome.execute_script("return Boolean(window.msal)"), "MSAL.js")

    def forget(self):
        """Empties the memory of MSAL.js; the session at the authority stays."""
        self.chrome.execute_script("sessionStorage.clear()")
        self.open()

    def start(self, method, **request):
        self.chrome.execute_script(CALL, method, request)

    def outcome(self):
        return self.chrome.until(lambda: self.chrome.execute_script("return window.outcome"), "an outcome of MSAL.js")

    def result(self):
        outcome = self.outcome()
        self.assertNotIn("error", outcome)
        return outcome["result"]

    def call(self, method, **request):
        self.start(method, **request)
        return self.result()

    def error(self, method, **request):
        self.start(method, **request)
        return self.outcome()["error"]

    @contextlib.contextmanager
    def popup(self):
        """What happens in the window that MSAL.js opened; at the end the window is closed."""
        self.chrome.until(lambda: len(self.chrome.window_handles) == 2, "the popup")
        [window] = set(self.chrome.window_handles) - {self.window}
        self.chrome.switch_to.window(window)
        yield
        self.chrome.until(lambda: len(self.chrome.window_handles) == 1, "the end of the popup")
        self.chrome.switch_to.window(self.window)

    def sign_in(self, **request):
        """Signs in with a popup."""
        self.start("loginPopup", redirectUri=f"{self.site}/blank", **request)
        with self.popup():
            self.person.fill_at_once(signInName=self.user, password=PASSWORD)
        return self.result()

    def silently(self, **request):
        return self.call("acquireTokenSilent", redirectUri=f"{self.site}/blank", **request)

    def ask(self, token, text=None):
        """Asks for the tasks, or adds one: the status and the body of the answer."""
        return self.chrome.execute_async_script(ASK, f"{self.tasks}/api/tasks", token, text)

    def use(self, result, text):
        status, body = self.ask(result["accessToken"], text)
        self.assertEqual(status, 201, body)
        status, body = self.ask(result["accessToken"])
        self.assertEqual(status, 200, body)
        self.assertIn(text, [task["task"] for task in json.loads(body)])

    def count_sent(self, text):
        return self.servers.count_sent(text, self.control)

    def redirect(self):
        """Signs in by leaving the page."""
        self.start("loginRedirect")
        self.person.fill_at_once(signInName=self.user, password=PASSWORD)
        self.await_page()
        return self.result()


class Flows(Page):
    def test_popup_then_silently_then_refreshed(self):
        first = self.sign_in()
        self.assertIn(self.user, first["idTokenClaims"].get("emails", [first["idTokenClaims"].get("preferred_username")]))
        self.use(first, "By a popup")
        cached = self.silently()
        self.assertEqual((cached["fromCache"], cached["accessToken"]), (True, first["accessToken"]))
        self.assertEqual(self.count_sent("grant_type=refresh_token"), 0)
        renewed = self.silently(forceRefresh=True)
        self.assertEqual((renewed["fromCache"], self.count_sent("grant_type=refresh_token")), (False, 1))
        self.use(renewed, "By a refresh")

    def test_redirect_then_frame_then_sign_out(self):
        self.use(self.redirect(), "By a redirect")

        self.forget()
        self.use(self.call("ssoSilent", loginHint=self.user, redirectUri=f"{self.site}/blank"), "By a frame")
        self.assertEqual(self.count_sent("prompt=none"), 1)

        self.start("logoutRedirect")
        self.chrome.until(lambda: self.chrome.execute_script("return window.msal?.getAllAccounts().length") == 0, "the way back")
        self.assertEqual(self.count_sent("post_logout_redirect_uri="), 1)
        error = self.error("ssoSilent", loginHint=self.user, redirectUri=f"{self.site}/blank")
        self.assertEqual(error["name"], "InteractionRequiredAuthError", error)

    def expired(self, seconds):
        """Signs in so long ago that the server refuses the access token."""
        self.command("clock", {"skew_s": -seconds})
        result = self.sign_in()
        self.command("clock", {"skew_s": 0})
        status, body = self.ask(result["accessToken"])
        self.assertEqual(status, 401)
        self.assertIn("token.expired", body)

    def block_third_party_cookies(self, is_blocked):
        self.chrome.execute_cdp_cmd("Network.setCookieControls", {
            "enableThirdPartyCookieRestriction": is_blocked, "disableThirdPartyCookieMetadata": True,
            "disableThirdPartyCookieHeuristics": True})

    def test_no_frame_without_third_party_cookies(self):
        self.sign_in()
        self.forget()
        self.block_third_party_cookies(True)
        self.addCleanup(self.block_third_party_cookies, False)
        error = self.error("ssoSilent", loginHint=self.user, redirectUri=f"{self.site}/blank")
        self.assertEqual(error["name"], "InteractionRequiredAuthError", error)

    def choose_account(self, selector):
        """Signs in with a popup that shows the accounts of the browser, and presses one of its buttons."""
        self.start("loginPopup", redirectUri=f"{self.site}/blank", prompt="select_account")
        with self.popup():
            self.chrome.until(lambda: self.chrome.one(f"#accounts {selector}"), "the accounts").click()
            if "other" in selector:
                self.person.fill_at_once(signInName=self.other, password=PASSWORD)
        return self.result()

    def test_a_second_account(self):
        first = self.sign_in()
        second = self.choose_account("[value=other]")
        self.assertNotEqual(second["uniqueId"], first["uniqueId"])
        self.use(second, "Of the second account")
        again = self.choose_account(f"[value='{first['uniqueId']}']")
        self.assertEqual(again["uniqueId"], first["uniqueId"])
        self.use(again, "Of the first account")

    def test_no_frame_for_somebody_else(self):
        self.sign_in()
        self.forget()
        error = self.error("ssoSilent", loginHint=self.other, redirectUri=f"{self.site}/blank")
        self.assertEqual(error["name"], "InteractionRequiredAuthError", error)

    def test_throttling(self):
        self.sign_in()
        self.command("faults", {
            "at": "token", "status": 429, "retry_after": 2, "body": json.dumps({"error": "temporarily_unavailable"})})
        asked = self.count_sent("/oauth2/v2.0/token")
        for _ in range(2):
            # The second time MSAL.js does not even ask.
            error = self.error("acquireTokenSilent", forceRefresh=True)
            self.assertEqual(error["name"], "ServerError", error)
            self.assertEqual(self.count_sent("/oauth2/v2.0/token"), asked + 1)
        # MSAL.js waits a minute, whatever Retry-After says. The test does not.
        self.chrome.execute_script(
            "Object.keys(sessionStorage).filter((key) => key.includes('throttling')).forEach((key) => sessionStorage.removeItem(key))")
        self.use(self.silently(forceRefresh=True), "After the throttling")

    def test_an_expired_token_and_another_try(self):
        self.expired(seconds=2 * 3600)
        self.use(self.silently(forceRefresh=True), "After an expired token")

    def test_an_expired_token_and_an_expired_refresh_token(self):
        self.expired(seconds=2 * 86400)
        # MSAL.js asks in a frame then, but the session is as old, so a person has to sign in.
        error = self.error("acquireTokenSilent", forceRefresh=True, redirectUri=f"{self.site}/blank")
        self.assertEqual(error["name"], "InteractionRequiredAuthError", error)
        self.use(self.sign_in(), "After an expired refresh token")


class B2C(Flows, unittest.TestCase):
    auth = {
        "clientId": CLIENT, "authority": f"https://contoso.b2clogin.com/{TENANT}/b2c_1_sign_in",
        "knownAuthorities": ["contoso.b2clogin.com"],
    }
    scopes = ["https://contoso.onmicrosoft.com/tasks/tasks.read", "https://contoso.onmicrosoft.com/tasks/tasks.write"]

    def test_a_password_that_was_forgotten(self):
        self.start("loginPopup", redirectUri=f"{self.site}/blank")
        with self.popup():
            self.chrome.until(lambda: self.chrome.one("[value=forgot]"), "the form").click()
        self.assertIn("AADB2C90118", self.outcome()["error"]["message"])
        reset = f"https://contoso.b2clogin.com/{TENANT}/b2c_1_reset"
        self.start("loginPopup", redirectUri=f"{self.site}/blank", authority=reset)
        with self.popup():
            self.person.fill_at_once(email=self.user, newPassword="N3wPassw0rd!", reenterPassword="N3wPassw0rd!")
        self.use(self.result(), "With a new password")


class ExternalID(Flows, unittest.TestCase):
    auth = {"clientId": EXTERNAL_CLIENT, "authority": "https://contoso.ciamlogin.com/", "knownAuthorities": ["contoso.ciamlogin.com"]}
    scopes = [f"api://{EXTERNAL_API}/Tasks.Read", f"api://{EXTERNAL_API}/Tasks.Write"]
    control = "?profile=external-id"

    @classmethod
    def task_server(cls):
        return cls.servers.another_page(**cls.servers.external_id_settings())


class Entra(Flows, unittest.TestCase):
    auth = {"clientId": ENTRA_CLIENT, "authority": f"https://login.microsoftonline.com/{ENTRA_TENANT}"}
    scopes = [f"api://{ENTRA_API}/Tasks.Read", f"api://{ENTRA_API}/Tasks.Write"]
    user, other = "alice@fabrikam.com", "bob@fabrikam.com"
    control = "?profile=entra"

    @classmethod
    def task_server(cls):
        return cls.servers.another_page(
            TASKS_AUTHORITY="", TASKS_POLICIES="", TASKS_CLIENT_ID=ENTRA_API,
            TASKS_METADATA_URL=f"{cls.servers.authority}/{ENTRA_TENANT}/v2.0/.well-known/openid-configuration",
            TASKS_ISSUER=f"https://login.microsoftonline.com/{ENTRA_TENANT}/v2.0")

    def test_a_claims_challenge(self):
        self.sign_in()
        asked = {"access_token": {"acrs": {"value": "c1"}}}
        self.command("challenge", {"user": self.user, "suberror": "additional_action", "claims": asked})
        error = self.error("acquireTokenSilent", forceRefresh=True)
        self.assertEqual([error["name"], error["subError"]], ["InteractionRequiredAuthError", "additional_action"])
        self.start("acquireTokenPopup", redirectUri=f"{self.site}/blank", claims=error["claims"], prompt="login")
        with self.popup():
            self.person.fill_at_once(password=PASSWORD)
        self.assertEqual(claims_of(self.result()["accessToken"])["acrs"], ["c1"])


class Printed(Page):
    """The settings that `mock-authority client-settings` prints, as they are."""

    @classmethod
    def settings(cls):
        return printed(cls.kind, "--tls-listen", f"127.0.0.1:{cls.servers.secure_port}", "--state", "state/mock")

    def test_the_printed_settings(self):
        self.use(self.redirect(), "With the printed settings")

    def test_the_issuer_that_msal_js_5_demands(self):
        """From 5.10 on it has to begin with the address of the authority, or to be by https at a host in `knownAuthorities`."""
        auth = self.chrome.execute_script("return msal.getConfiguration().auth")
        issuer = urllib.parse.urlsplit(self.issuer(auth["authority"]))
        origin = urllib.parse.urlsplit(auth["authority"])
        self.assertEqual(issuer.scheme, "https")
        self.assertIn(issuer.netloc, [origin.netloc, *auth["knownAuthorities"]])

    def issuer(self, authority):
        document = f"{authority}/v2.0/.well-known/openid-configuration"
        trust = ssl.create_default_context(cafile=self.servers.certificate)
        with urllib.request.urlopen(document, timeout=10, context=trust) as answer:
            return json.load(answer)["issuer"]


class PrintedForB2C(Printed, unittest.TestCase):
    kind = "msal-js"


class PrintedForExternalID(Printed, unittest.TestCase):
    kind = "msal-external-id-js"
    control = "?profile=external-id"

    @classmethod
    def task_server(cls):
        return cls.servers.another_page(**cls.servers.external_id_settings())
