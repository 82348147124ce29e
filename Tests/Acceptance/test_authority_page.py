"""The developer page of the mock: what it shows and does, and for every eye."""

import datetime
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import axe
from chrome import Chrome
from person import PageTest
from servers import CLIENT, TENANT, claims_of

KEYS = f"{TENANT}/b2c_1_sign_in/discovery/v2.0/keys"


class DeveloperPage(PageTest):
    """Each test has a run of its own at the mock, so that it disturbs no other."""

    def setUp(self):
        super().setUp()
        self.run_name = self._testMethodName.replace("_", "-")[:40]
        self.mock = self.servers.authority
        self.ask("reset", {})

    def browser(self, *switches):
        chrome = Chrome(*switches)
        self.addCleanup(self.check_and_quit, chrome)
        return chrome

    def open(self, query="", chrome=None):
        """Opens the page of the run, and waits until it shows everything."""
        chrome = chrome or self.chrome
        chrome.get(f"{self.mock}/_mock?run={self.run_name}{query}")
        chrome.until(lambda: chrome.all("main:not([aria-busy])"), "the page to be whole")
        chrome.execute_script("for (const part of document.querySelectorAll('section > details')) part.open = true")

    def ask(self, path, order=None, method=None):
        mark = "&" if "?" in path else "?"
        return self.servers.control(f"{path}{mark}run={self.run_name}", order, method)

    def ask_keys(self, query="", headers={}):
        """A request of a client, in the run of the test; its status."""
        request = urllib.request.Request(f"{self.mock}/{self.run_name}.{KEYS}{query}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def state(self):
        return self.ask("state")

    def texts(self, selector, chrome=None):
        return [element.text for element in (chrome or self.chrome).all(selector)]

    def press(self, selector, chrome=None):
        (chrome or self.chrome).one(selector).click()

    def fill(self, selector, text, chrome=None):
        field = (chrome or self.chrome).one(selector)
        field.clear()
        field.send_keys(text)

    def await_done(self, words):
        self.chrome.until(lambda: words in self.chrome.one("#said").text, words)

    def test_sections_open_where_one_goes_and_buttons_say_what_they_do(self):
        self.chrome.get(f"{self.mock}/_mock?run={self.run_name}")
        self.chrome.until(lambda: self.chrome.all("main:not([aria-busy])"), "the page to be whole")
        self.assertLess(self.chrome.execute_script("return document.documentElement.scrollHeight"), 2000)
        self.assertFalse(self.chrome.one("#keys button").is_displayed())
        self.press("#sections [href='#keys']")
        self.chrome.until(lambda: self.chrome.one("#keys button").is_displayed(), "the section")
        self.assertEqual(self.texts("#keys button"), ["Publish", "Activate", "Retire", "Rotate"])
        self.assertEqual(self.texts("#token button"), ["Show the token", "Copy the token"])
        scopes = self.chrome.execute_script("return [...document.querySelectorAll('#scopes option')].map((it) => it.value)")
        self.assertGreaterEqual(len(scopes), 2)
        self.assertEqual(self.chrome.one("#app a").get_attribute("href"), "http://localhost:3000/")

    def test_requests_and_tokens_come_while_it_is_open(self):
        self.open()
        self.assertEqual(self.texts("#request-rows > li"), [])
        self.ask_keys()
        self.chrome.until(lambda: len(self.chrome.all("#request-rows > li")) == 1, "the request")
        self.assertIn("discovery/v2.0/keys", self.chrome.one("#request-rows .target").text)
        self.press("#request-rows summary")
        self.ask("token?user=alice&claim=extension_colour=green")
        self.chrome.until(lambda: self.chrome.all("#token-rows > li"), "the token")
        self.press("#token-rows summary")
        self.assertIn('"extension_colour": "green"', self.chrome.one("#token-rows li:first-child details").text)
        self.ask_keys()
        self.chrome.until(lambda: len(self.chrome.all("#request-rows > li")) == 2, "the second request")
        # What was opened stays open, below what came.
        is_open = "return [...document.querySelectorAll('#request-rows details')].map((row) => row.open)"
        self.assertEqual(self.chrome.execute_script(is_open), [False, True])
        self.ask("reset", {})
        self.ask_keys()
        self.chrome.until(lambda: len(self.chrome.all("#request-rows > li")) == 1, "the request after the reset")
        self.assertEqual(self.texts("#token-rows > li"), [])

    def test_it_shows_names_of_clients_local_times_two_columns_of_headers_and_the_sections_wherever_it_stands(self):
        self.chrome.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kolkata"})
        self.ask_keys(f"?client_id={CLIENT}")
        self.ask("token?user=alice")
        self.open()
        for rows in ["#token-rows", "#request-rows"]:
            self.assertIn("To-do app", self.chrome.one(f"{rows} summary").text)
            self.assertNotIn(CLIENT, self.chrome.one(rows).text)
        shown = self.chrome.one("#request-rows time")
        local = datetime.datetime.fromisoformat(shown.get_attribute("datetime")) + datetime.timedelta(hours=5, minutes=30)
        self.assertIn(f", {local:%-I:%M:%S}", shown.text)
        self.press("#request-rows summary")
        self.assertIn(f"client_id={CLIENT}", self.chrome.one("#request-rows details").text)
        name, value = (self.chrome.one(f"#request-rows {part}").rect for part in ["dt", "dd"])
        self.assertEqual([name["y"], name["x"] < value["x"]], [value["y"], True])
        for width in [1280, 360]:
            self.chrome.size(width, 740)
            self.chrome.execute_script("scrollTo(0, document.body.scrollHeight)")
            top = self.chrome.execute_script("return document.querySelector('#sections').getBoundingClientRect().top")
            self.assertTrue(0 <= top < 100, f"{top} at {width}")

    def test_faults_that_a_program_sets_come_while_it_is_open(self):
        self.open()
        waiting = lambda: self.chrome.one("#faults").text
        self.assertIn("None waits", waiting())
        self.ask("faults", {"at": "keys", "status": 503})
        self.chrome.until(lambda: "keys answers 503, 1 time" in waiting(), "the fault")
        self.ask("faults", {"at": "token", "status": 500})
        self.chrome.until(lambda: "token answers 500" in waiting() and "keys" in waiting(), "the second fault")
        self.assertEqual(self.texts("#request-rows > li"), [])

    def test_users_are_added_changed_and_removed(self):
        self.open()
        add = "#users form[aria-label='Add a user']"
        self.fill(f"{add} [name=email]", "d+e&f@example.com")
        self.fill(f"{add} [name=name]", "Dora")
        self.fill(f"{add} [name=claims]", '{"extension_level": 3}')
        self.press(f"{add} button")
        self.await_done("The user was added.")
        row = "#users > details > .rows > li:last-child"
        self.press(f"{row} summary")
        self.fill(f"{row} [name=name]", "Dora Renamed")
        self.press(f"{row} form[aria-label='Change d+e&f@example.com'] button")
        self.await_done("The user was changed.")
        claims = claims_of(self.ask("token?user=d%2Be%26f"))
        self.assertEqual([claims["name"], claims["extension_level"]], ["Dora Renamed", 3])
        self.press(f"{row} summary")
        self.press(f"{row} form[aria-label='Remove d+e&f@example.com'] button")
        self.await_done("The user was removed.")
        self.assertEqual([user["email"] for user in self.state()["users"]], ["alice@example.com", "bob@example.com"])

    def test_a_field_that_was_emptied_empties_what_it_shows_and_the_password_stays(self):
        self.ask("users/alice", {"claims": {"extension_level": 3}}, "PUT")
        self.open()
        row = "#users > details > .rows > li:first-child"
        self.press(f"{row} summary")
        for name in ["givenName", "familyName", "claims", "password"]:
            self.chrome.one(f"{row} [name={name}]").clear()
        self.press(f"{row} [name=disabled]")
        self.press(f"{row} form[aria-label='Change alice@example.com'] button")
        self.await_done("The user was changed.")
        alice = self.state()["users"][0]
        self.assertEqual([alice[name] for name in ["name", "givenName", "familyName", "claims", "password", "disabled"]],
                         ["Alice Example", "", "", {}, "Passw0rd!", True])

    def test_what_comes_from_outside_is_text(self):
        attack = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'"
        self.ask("users/eve@example.com", {"name": attack, "claims": {attack: attack}}, "PUT")
        self.ask("token?user=eve")
        self.ask_keys(headers={"User-Agent": attack})
        self.open(f"&x={urllib.parse.quote(attack)}")
        self.chrome.execute_script("for (const row of document.querySelectorAll('details')) row.open = true")
        self.assertIn(attack, self.chrome.one("#request-rows").text)
        self.assertIn(attack, self.chrome.one("#users > details > .rows").text)
        self.assertIn(attack, self.chrome.one("#token-rows b").text)
        self.assertEqual(self.chrome.one("#users li:last-child [name=name]").get_attribute("value"), attack)
        self.assertEqual(self.chrome.all("img, body script"), [])

    def test_the_command_gets_a_token_of_the_tenant_and_run_that_are_shown(self):
        for query in ["", "&profile=external-id", "&profile=entra&tenant=northwind.onmicrosoft.com"]:
            with self.subTest(query):
                self.open(query)
                command = self.chrome.words("#command")
                self.assertIn(f"run={self.run_name}", command)
                done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)
                self.assertEqual(claims_of(done.stdout.strip())["name"], "Alice Example")
                self.assertEqual(len(self.chrome.all("#tenants [aria-current]")), 1)
                self.press("#clock button[value='300']")
                self.await_done("The clock was set.")
        self.assertEqual(self.state()["skew_s"], 300)
        self.assertEqual(self.ask("state?profile=entra")["skew_s"], 0)

    def test_what_is_wrong_with_a_form_is_said(self):
        self.expected = ["400"]
        self.open()
        self.fill("#faults [name=status]", "7")
        self.press("#faults .primary")
        self.assertIn("whole number from 200 to 599", self.chrome.words("[role=alert]"))
        self.assertEqual(axe.findings(self.chrome), [])
        for form, fields, reason in [
            ("Set the clock by seconds", {"skew_s": "1h"}, "must be a whole number"),
            ("Add a user", {"email": "Alice@example.com"}, "already"), ("Add a user", {"email": ""}, "Say the address"),
            ("Add a user", {"email": "new@example.com", "claims": "x"}, "are not JSON"),
            ("Add a user", {"email": "new@example.com", "claims": "1"}, "must be an object"),
        ]:
            with self.subTest(form, fields=fields):
                self.open()
                for name, value in fields.items():
                    self.fill(f"[aria-label='{form}'] [name={name}]", value)
                self.press(f"[aria-label='{form}'] button")
                self.assertIn(reason, self.chrome.words("[role=alert]"))

    def test_clock_keys_faults_and_reset(self):
        self.open()
        self.press("#clock button[value='-7200']")
        self.await_done("The clock was set.")
        self.press("#faults .primary")
        self.await_done("The fault was added.")
        self.assertEqual(self.state()["skew_s"], -7200)
        self.assertEqual(self.ask_keys(), 503)
        self.chrome.until(lambda: "None waits" in self.chrome.one("#faults").text, "the fault to be used up")
        before = len(self.chrome.all("#keys .rows code"))
        self.press("#keys button[value=publish]")
        self.await_done("The keys were changed.")
        self.assertEqual(len(self.chrome.all("#keys .rows code")), before + 1)
        self.press("#reset button")
        self.await_done("Everything is as at the start.")
        self.assertEqual(self.state()["skew_s"], 0)

    def test_tokens_and_settings_are_copied(self):
        self.chrome.execute_cdp_cmd(
            "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.open()
        self.press("#copy-token")
        self.assertEqual(len(self.copied().split(".")), 3)
        self.press("#bad li:first-child button")
        claims = claims_of(self.copied())
        self.assertEqual(claims["exp"] - claims["iat"], 3600)
        self.chrome.until(lambda: "expired" in self.chrome.one("#token-rows > li").text, "the bad token among the issued")
        kinds = self.texts("#clients li summary")
        self.assertIn("ios-adal", kinds)
        self.assertEqual(len(kinds), 22)
        self.chrome.all("#clients li summary")[kinds.index("curl")].click()
        self.chrome.all("#clients li")[kinds.index("curl")].find_element("css selector", "button").click()
        self.assertIn(f"{self.mock}/_mock/token?user=alice@example.com", self.copied())

    def copied(self):
        self.chrome.until(lambda: self.chrome.one("#said").text == "Copied.", "the copy")
        text = self.chrome.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        self.chrome.execute_script("document.getElementById('said').textContent = ''")
        return text

    def test_without_javascript_it_says_that_it_needs_it(self):
        chrome = self.browser("--blink-settings=scriptEnabled=false")
        chrome.get(f"{self.mock}/_mock")
        self.assertIn("needs JavaScript", chrome.words("noscript"))

    def test_the_form_shows_a_token(self):
        self.open()
        self.press("#token .primary")
        self.chrome.until(lambda: len(self.chrome.one("body").text.split(".")) == 3, "the token")

    def test_axe_finds_nothing_and_a_phone_needs_no_sideways_scrolling(self):
        self.ask_keys()
        self.ask("token?user=alice&bad=huge")
        for query in ["", "&profile=external-id", "&profile=entra"]:
            with self.subTest(query):
                self.open(query)
                if not query:
                    axe.check_looks(self, "the page")
                    self.press("#faults .primary")
                    self.await_done("The fault was added.")
                self.chrome.execute_script("for (const row of document.querySelectorAll('details')) row.open = true")
                axe.check_looks(self, "the page, everything open")
                self.chrome.size(360, 740)
                self.assertLessEqual(self.chrome.execute_script("return document.body.scrollWidth"), 360)

    def test_the_root_leads_there(self):
        self.chrome.get(self.mock)
        self.assertEqual(axe.findings(self.chrome), [])
        self.press("a[href='/_mock']")
        self.chrome.until(lambda: self.chrome.all("#requests"), "the developer page")
