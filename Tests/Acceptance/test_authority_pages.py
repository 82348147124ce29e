"""The authority's own pages, used by mouse and by keyboard alone."""

import urllib.parse

from selenium.webdriver.common.keys import Keys

import axe
from person import PASSWORD, PageTest
from servers import CLIENT, EXTERNAL_CLIENT, EXTERNAL_TENANT, TENANT, claims_of


class AuthorityPages(PageTest):
    def authorize(self, policy, **more):
        """Opens the page as a client that waits for the answer in the address."""
        query = urllib.parse.urlencode({
            "client_id": CLIENT, "response_type": "id_token", "response_mode": "fragment", "scope": "openid",
            "nonce": "n", "redirect_uri": f"{self.servers.page}/api.html", **more})
        self.chrome.get(f"{self.servers.authority}/{TENANT}/{policy}/oauth2/v2.0/authorize?{query}")

    def sign_out(self):
        self.chrome.get(f"{self.servers.authority}/{TENANT}/b2c_1_sign_in/oauth2/v2.0/logout")
        self.assertEqual(self.chrome.words("h1"), "Signed out")

    def await_claims(self):
        """The claims of the token that the client receives."""
        self.chrome.until(lambda: "#" in self.chrome.current_url, "the answer")
        answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.chrome.current_url).fragment))
        self.assertIn("id_token", answer)
        return claims_of(answer["id_token"])

    def alert(self):
        self.chrome.until(lambda: self.chrome.one("[role=alert]").is_displayed(), "an error")
        return self.chrome.words("[role=alert]")

    def focused(self):
        return self.chrome.switch_to.active_element

    def type(self, *fields):
        """Types into the fields in the order of the keyboard; the cursor must be in the first one already."""
        for index, (name, text) in enumerate(fields):
            if index:
                self.focused().send_keys(Keys.TAB)
            self.assertEqual(self.focused().get_attribute("name"), name)
            self.focused().send_keys(text)

    def test_the_keyboard_is_enough(self):
        address = self.stranger()
        self.authorize("b2c_1_sign_up")
        self.type(("email", address), ("newPassword", PASSWORD), ("reenterPassword", "other"), ("displayName", "Kay"))
        self.focused().send_keys(Keys.ENTER)
        self.assertIn("do not match", self.alert())
        self.type(("newPassword", PASSWORD), ("reenterPassword", PASSWORD))
        self.focused().send_keys(Keys.ENTER)
        self.await_claims()
        self.sign_out()

        self.authorize("b2c_1_sign_in", login_hint=address)
        self.type(("password", PASSWORD))
        for label in ["Sign in", "Forgot your password?", "Cancel"]:
            self.focused().send_keys(Keys.TAB)
            self.assertEqual(self.focused().text, label)
        for _ in range(2):
            self.chrome.key(Keys.TAB, backwards=True)
        self.focused().send_keys(Keys.ENTER)
        self.assertEqual(self.await_claims()["name"], "Kay")

    def test_one_click_signs_in(self):
        self.authorize("b2c_1_sign_in")
        button = self.chrome.one("button[name=person]")
        self.assertEqual(button.text, "Alice Example, alice@example.com")
        button.click()
        self.assertEqual(self.await_claims()["name"], "Alice Example")

    def open_profile(self):
        """The page of somebody who is signed in."""
        self.authorize("b2c_1_sign_in")
        self.person.fill(signInName="alice@example.com", password=PASSWORD)
        self.await_claims()
        self.authorize("b2c_1_edit_profile")

    def test_axe_finds_nothing_and_a_phone_needs_no_sideways_scrolling(self):
        self.expected = ["400", "404"]
        base = f"{self.servers.authority}/{TENANT}/b2c_1_sign_in"
        entra = f"{self.servers.authority}/{EXTERNAL_TENANT}/oauth2"
        query = urllib.parse.urlencode({
            "client_id": EXTERNAL_CLIENT, "response_type": "code", "scope": "openid", "nonce": "n",
            "code_challenge": "x" * 43, "code_challenge_method": "S256", "redirect_uri": "http://localhost:5999"})
        # The profile is last: who is signed in is not asked again.
        pages = {
            "Sign in": lambda: self.authorize("b2c_1_sign_in"),
            "Sign up": lambda: self.authorize("b2c_1_sign_up"),
            "Reset your password": lambda: self.authorize("b2c_1_reset"),
            "Log in to “Facebook”": lambda: self.authorize("b2c_1_facebook"),
            "Sign in to External ID": lambda: self.chrome.get(f"{entra}/v2.0/authorize?{query}"),
            "Enter code": lambda: self.chrome.get(f"{entra}/deviceauth"),
            "a refusal": lambda: self.authorize("b2c_1_sign_in", client_id="nobody"),
            "Signed out": lambda: self.chrome.get(f"{base}/oauth2/v2.0/logout"),
            "nothing there": lambda: self.chrome.get(f"{base}/oauth2/v2.0/nothing"),
            "Edit your profile": self.open_profile,
        }
        for name, open_page in pages.items():
            with self.subTest(name):
                self.chrome.size(1280, 740)
                open_page()
                if name[0].isupper():
                    self.assertIn(self.chrome.words("h1"), name)
                self.check_look(name)
                if self.chrome.all("#next") and name != "Edit your profile":
                    self.chrome.one("#next").click()
                    self.alert()
                    self.check_look(f"{name}, with an error")

    def check_look(self, name):
        axe.check_looks(self, name)
        self.chrome.size(360, 740)
        self.assertLessEqual(self.chrome.execute_script("return document.body.scrollWidth"), 360, name)
        self.chrome.size(1280, 740)
