"""The whole path of a person."""

import urllib.parse

from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.keys import Keys

from person import PageTest, Person
from servers import POLICIES


class Journey(PageTest):
    def test_tokens_stay_out_of_addresses_and_access_tokens_out_of_storage_that_lasts(self):
        self.newcomer()
        token = self.chrome.execute_script("return JSON.parse(sessionStorage['tasks.session']).token")
        refresh = self.chrome.execute_script("return JSON.parse(localStorage['tasks.signed-in']).refresh")
        self.assertGreater(min(len(token), len(refresh)), 100)
        for request in self.chrome.requests():
            self.assertNotIn(token, request["url"])
            self.assertNotIn(refresh, request["url"])
        self.assertNotIn(token, self.chrome.execute_script("return JSON.stringify({...localStorage})"))
        self.assertNotIn("code=", self.chrome.current_url)

    def test_the_policies_lead_to_the_authority_with_pkce(self):
        self.person.open()
        self.chrome.until(lambda: self.chrome.all("#policies button"), "the policies")
        labels = [button.text for button in self.chrome.all("#policies button")]
        self.assertEqual(labels, ["Sign in", "Sign up", "Continue with Facebook"])
        for policy in ["b2c_1_sign_in", "b2c_1_sign_up", "b2c_1_facebook"]:
            self.person.open()
            self.person.choose(policy)
            self.chrome.until(lambda: "/authorize" in self.chrome.current_url, "the authority")
            url = urllib.parse.urlsplit(self.chrome.current_url)
            query = dict(urllib.parse.parse_qsl(url.query))
            self.assertIn(policy, url.path)
            self.assertEqual(query["response_type"], "code")
            self.assertEqual(query["code_challenge_method"], "S256")
            self.assertEqual(len(query["code_challenge"]), 43)
            self.assertGreaterEqual(min(len(query["state"]), len(query["nonce"])), 43)
            self.assertEqual(query["redirect_uri"], self.servers.page + "/")
            self.assertIn("openid", query["scope"].split())

    def test_an_unrequested_answer_is_refused(self):
        self.person.open("/#state=forged&code=stolen")
        self.chrome.until(lambda: self.chrome.one("#welcome-error").is_displayed(), "the complaint")
        self.assertIn("not started in this tab", self.chrome.words("#welcome-error"))
        self.assertNotIn("stolen", self.chrome.current_url)
        self.assertFalse([r for r in self.chrome.requests() if r["url"].endswith("/token")])

    def test_a_forgotten_password_is_replaced_on_the_way_in(self):
        address = self.newcomer("Fay Forgetful")
        self.person.sign_out()
        self.person.choose("b2c_1_sign_in")
        self.chrome.until(lambda: self.chrome.one("[value=forgot]"), "the sign-in page").click()
        self.person.fill(email=address, newPassword="An0therOne", reenterPassword="An0therOne")
        self.person.await_list()
        self.assertEqual(self.chrome.words("#account .name"), "Fay Forgetful")
        self.person.sign_out()
        self.person.sign_in(address, "An0therOne")

    def test_a_forgotten_password_without_a_policy_for_it_leads_to_people(self):
        policies = POLICIES.replace("b2c_1_reset,", "")
        with self.servers.another_page(TASKS_POLICIES=policies) as page:
            person = Person(self.chrome, page)
            person.open()
            person.choose("b2c_1_sign_in")
            self.chrome.until(lambda: self.chrome.one("[value=forgot]"), "the sign-in page").click()
            self.chrome.until(lambda: self.chrome.one("#welcome-error").is_displayed(), "the complaint")
            self.assertIn("ask the people who run this page", self.chrome.words("#welcome-error"))

    def test_a_policy_for_forgotten_passwords_that_leads_to_itself_ends(self):
        self.person.open()
        self.person.await_welcome()
        self.chrome.execute_script("sessionStorage['tasks.attempt'] = JSON.stringify({ state: 's', policy: 'b2c_1_reset' })")
        self.person.open("/?state=s&error=access_denied&error_description=AADB2C90118")
        self.assertIn("ask the people who run this page", self.chrome.words("#welcome-error"))

    def test_who_am_i(self):
        address = self.newcomer("Nora Newcomer")
        self.person.open_account()
        shown = self.chrome.words("#person")
        for part in ["Nora Newcomer", address, "Signed in until ", "Other devices stay signed in: sign out on each"]:
            self.assertIn(part, shown)
        self.assertNotIn("Policy", shown)
        self.chrome.one("#person summary").click()
        text = self.chrome.words("#claims")
        self.assertIn("b2c_1_sign_up", text.lower())
        self.assertRegex(text, r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")
        self.chrome.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.chrome.until(lambda: not self.chrome.one("#person").is_displayed(), "the dialog to close")
        self.person.open_account()
        corner = self.chrome.one("#person").rect
        for distance, stays in [(9, True), (-9, False)]:  # from the corner of the dialog
            actions = ActionBuilder(self.chrome)
            actions.pointer_action.move_to_location(int(corner["x"]) + distance, int(corner["y"]) + distance).click()
            actions.perform()
            self.assertEqual(self.chrome.one("#person").is_displayed(), stays)

    def test_filters_and_progress(self):
        person = self.person
        self.newcomer()
        shown = lambda: [name for name in ["empty", "tools", "progress"] if self.chrome.one(f"#{name}").is_displayed()]
        self.assertEqual(shown(), ["empty"])
        person.add("one", "two", "three")
        self.chrome.until(lambda: shown() == ["tools"], "the filters, and no progress yet")
        person.complete("one")
        self.chrome.until(lambda: shown() == ["tools", "progress"], "the progress")
        person.complete("three")
        person.filter("today")
        person.await_texts()
        self.assertTrue(self.chrome.current_url.endswith("/#today"))


class TwoDevices(PageTest):
    def test_the_text_of_the_other_is_shown_as_soon_as_it_is_chosen(self):
        self.newcomer()
        self.person.save("Buy milk")
        other = self.second_device()
        self.person.deafen()
        other.rename("Buy milk", "Buy oat milk")
        other.await_saved()
        self.person.rename("Buy milk", "Buy soy milk")
        self.person.await_status("1 change not saved")
        self.assertIn("stuck", self.chrome.one("#status").get_attribute("class"))
        self.assertTrue(self.chrome.one(".problem").is_displayed())
        shown = self.chrome.execute_script("""
            document.querySelector("[data-decision=theirs]").click();
            return document.querySelector("#rows .text").textContent;""")
        self.assertEqual(shown, "Buy oat milk")
        self.person.await_saved()
        self.assertEqual(self.person.texts(), ["Buy oat milk"])
        self.person.refresh()
        self.person.await_texts("Buy oat milk")
