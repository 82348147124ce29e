"""Sign-ins at the authority that differ from the usual one."""

import urllib.parse

import servers
from person import PASSWORD, Person, PageTest

API = "https://contoso.onmicrosoft.com/tasks"


class UnusualSignIns(PageTest):
    def press_on_authority_page(self, action):
        self.chrome.until(lambda: self.chrome.all(f"button[value={action}]"), f"the button {action}")
        self.chrome.one(f"button[value={action}]").click()

    def test_cancelling_a_sign_in_or_a_reset_leads_back_quietly(self):
        for is_reset in [False, True]:
            self.person.open()
            self.person.choose("b2c_1_sign_in")
            if is_reset:
                self.press_on_authority_page("forgot")
                self.chrome.until(lambda: self.chrome.all("[name=reenterPassword]"), "the reset of the password")
            self.press_on_authority_page("cancel")
            self.person.await_welcome()
            self.assertIn("cancelled", self.chrome.words("#welcome-error"))
            self.assertNotIn("AADB2C", self.chrome.words("#welcome-error"))
            self.assertEqual(self.chrome.current_url, f"{self.servers.page}/")

    def test_editing_the_profile_keeps_list_and_filter(self):
        self.newcomer("Nora Newcomer")
        self.person.save("Buy milk")
        self.person.complete("Buy milk")
        for action, name in [("cancel", "Nora Newcomer"), ("continue", "Nora Renamed")]:
            self.person.filter("done")
            self.chrome.one("#new").clear()
            self.chrome.one("#new").send_keys("A draft")
            self.person.open_account()
            self.chrome.one("#profile-actions button").click()
            self.chrome.until(lambda: self.chrome.all("[name=displayName]"), "the profile")
            self.chrome.one("[name=displayName]").clear()
            self.chrome.one("[name=displayName]").send_keys("Nora Renamed")
            self.press_on_authority_page(action)
            self.person.await_list()
            self.person.await_texts("Buy milk")
            self.assertEqual(self.chrome.one("#new").get_attribute("value"), "A draft")
            self.assertTrue(self.chrome.current_url.endswith("/#done"))
            self.assertEqual(self.chrome.words("#account .name"), name)

    def test_scopes_are_requested_with_their_api_and_issued_by_name(self):
        scopes = [f"{API}/tasks.read", f"{API}/tasks.write"]
        with self.servers.another_page(TASKS_READ_SCOPE=scopes[0], TASKS_WRITE_SCOPE=scopes[1]) as page:
            person = Person(self.chrome, page)
            person.open()
            person.choose("b2c_1_sign_in")
            self.chrome.until(lambda: "/authorize" in self.chrome.current_url, "the authority")
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.chrome.current_url).query))
            self.assertEqual(query["scope"].split(), ["openid", "profile", "offline_access", *scopes])
            person.fill(signInName="alice@example.com", password=PASSWORD)
            person.await_list()
            person.save("Buy milk")
            self.person.open_account()
            self.chrome.one("#person summary").click()
            claims = lambda: self.chrome.one("#claims").text
            self.chrome.until(lambda: "tasks.read tasks.write" in claims(), "the scopes among the claims")

    def test_an_unreachable_authority_is_reported_and_can_be_tried_again(self):
        self.expected = ["ERR_CONNECTION_REFUSED"]
        nowhere = f"http://127.0.0.1:{servers.free_port()}/contoso.onmicrosoft.com"
        with self.servers.another_page(TASKS_PAGE_AUTHORITY=nowhere) as page:
            person = Person(self.chrome, page)
            person.open()
            person.choose("b2c_1_sign_in")
            self.chrome.until(lambda: self.chrome.one("#welcome-error").is_displayed(), "the error")
            self.assertIn("cannot be reached", self.chrome.words("#welcome-error"))
            self.assertTrue(self.chrome.one("[data-policy='b2c_1_sign_in']").is_enabled())
