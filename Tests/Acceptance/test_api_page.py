"""The page of the API: read by anybody, tried with a token, and with curl."""

import json
import subprocess

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import axe
from chrome import Chrome
from person import PageTest
from servers import ROOT


class APIPage(PageTest):
    def open(self):
        self.person.open("/api.html#%")  # a fragment that is no escape, which must not hide the contract
        self.chrome.until(lambda: self.chrome.one("#token-state").text, "the page")

    def try_box(self, operation):
        """Opens the form of an operation."""
        box = self.chrome.one(f"#{operation} .try")
        if not box.get_attribute("open"):
            box.find_element(By.CSS_SELECTOR, "summary").click()
            self.chrome.until(lambda: box.find_element(By.CSS_SELECTOR, "form"), "the form")
        return box

    def send(self, operation):
        """The status and the body of the answer."""
        box = self.try_box(operation)
        box.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
        self.chrome.until(lambda: self.state(box)[:1].isdigit(), "an answer")
        return self.state(box), box.find_element(By.CSS_SELECTOR, "pre[aria-label^='Body']").text

    def state(self, box):
        return box.find_element(By.CSS_SELECTOR, "[role=status]").text

    def curl(self, operation):
        return self.try_box(operation).find_element(By.CSS_SELECTOR, "pre[aria-label$='curl']").text

    def run_curl(self, line, token):
        done = subprocess.run(["bash", "-c", line.replace("curl -i", "curl -s", 1)], capture_output=True, text=True, timeout=20,
                              env={"TOKEN": token, "PATH": "/usr/bin:/bin"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def paste(self, token):
        field = self.chrome.one("#token-pasted")
        field.clear()
        field.send_keys(token)

    def test_every_operation_of_the_contract_is_shown(self):
        self.open()
        complete = json.loads((ROOT / "Public/openapi.json").read_text())
        shown = {entry.get_attribute("id") for entry in self.chrome.all("#operations .entry")}
        wanted = {operation["operationId"] for path in complete["paths"].values()
                  for operation in path.values()}
        self.assertEqual(shown, wanted)

    def test_the_token_and_the_operations_come_first_and_each_method_has_its_colour(self):
        self.open()
        parts = [part.get_attribute("id") for part in self.chrome.all("main > [id]:not([hidden])")]
        self.assertEqual(parts, ["token", "contents", "rules", "operations", "errors"])
        self.assertNotIn("Lenient readings", self.chrome.one("main").text)
        self.chrome.one("#rules summary").click()
        self.assertIn("Lenient readings", self.chrome.one("main").text)
        colours = self.chrome.execute_script("""
            return [...document.querySelectorAll("#contents .method")].map((method) =>
              [method.textContent, getComputedStyle(method).backgroundColor]);""")
        self.assertEqual({name for name, _ in colours}, {"GET", "POST", "PUT", "PATCH", "DELETE"})
        self.assertEqual([len({tuple(pair) for pair in colours}), len({colour for _, colour in colours})], [5, 5])

    def test_common_errors_are_told_once(self):
        self.open()
        told = [entry.text for entry in self.chrome.all("#errors dl > div")]
        self.assertGreaterEqual(len(told), 10)
        page = self.chrome.one("main").text
        for text in told:
            sentence = text.split("\n")[1]
            self.assertEqual(page.count(sentence), 1, sentence)
        links = self.chrome.all("#listTasks .shared-errors a")
        self.assertIn("401", [link.text for link in links])
        for link in self.chrome.all(".shared-errors a"):
            target = link.get_attribute("href").split("#")[1]
            self.assertTrue(self.chrome.find_elements(By.ID, target), target)

    def test_without_a_session_one_can_read_and_is_told_how_to_get_a_token(self):
        self.expected = ["401"]
        self.open()
        self.assertIn("not signed in", self.chrome.one("#token-state").text)
        self.assertIn(f"{self.servers.authority}/_mock/token?user=alice@example.com", self.chrome.words("#token-mock-line"))
        get = self.chrome.one("#token-get")
        self.assertEqual((get.text, get.get_attribute("href")), ("Get a token", f"{self.servers.authority}/_mock#token"))
        state, body = self.send("health")
        self.assertTrue(state.startswith("200"), state)
        self.assertIn("alive", body)
        state, body = self.send("listTasks")
        self.assertTrue(state.startswith("401"), state)
        self.assertEqual(json.loads(body)["code"], "auth.missing")
        self.assertIn("/problems.html#auth.missing",
                      [link.get_attribute("href")[-27:] for link in self.chrome.all("#listTasks .try a")])

    def test_the_session_of_the_page_is_used_and_its_token_not_shown(self):
        self.newcomer()
        self.person.save("Buy milk")
        self.open()
        self.assertIn("You are signed in", self.chrome.one("#token-state").text)
        state, body = self.send("listTasks")
        self.assertTrue(state.startswith("200"), state)
        self.assertEqual([task["Text"] for task in json.loads(body)], ["Buy milk"])
        self.assertIn('-H "Authorization: Bearer $TOKEN"', self.curl("listTasks"))
        source = self.chrome.execute_script("return document.documentElement.outerHTML")
        self.assertNotIn("eyJ", source)
        self.chrome.one("#token-shown").click()
        self.chrome.until(lambda: "Authorization: Bearer eyJ" in self.curl("listTasks"), "the token")

    def test_a_new_tab_uses_the_session_too(self):
        self.newcomer()
        self.chrome.switch_to.new_window("tab")
        self.open()
        state, body = self.send("listTasks")
        self.assertTrue(state.startswith("200"), state)
        self.assertEqual(json.loads(body), [])

    def test_curl_does_what_the_form_does(self):
        token = self.servers.token(user="bob@example.com")
        self.open()
        self.paste(token)
        box = self.try_box("addTask")
        body = box.find_element(By.CSS_SELECTOR, "textarea")
        body.clear()
        body.send_keys(json.dumps({"task": "Bob's \"quoted\" $HOME `task`"}))
        by_curl = json.loads(self.run_curl(self.curl("addTask"), token))
        self.assertEqual(by_curl["Text"], "Bob's \"quoted\" $HOME `task`")
        state, answer = self.send("addTask")
        self.assertTrue(state.startswith("201"), state)
        by_form = json.loads(answer)
        self.assertEqual(by_form["Text"], by_curl["Text"])
        identifier = str(by_form["Id"])
        for operation in ["getTask", "deleteTask"]:
            self.try_box(operation)
            field = self.chrome.one(f"#{operation}-id")
            field.clear()
            field.send_keys(identifier)
        self.assertEqual(json.loads(self.run_curl(self.curl("getTask"), token))["Id"], by_form["Id"])
        self.assertTrue(self.send("deleteTask")[0].startswith("204"))
        self.assertTrue(self.curl("deleteTask").startswith("curl -i -X DELETE "))

    def test_a_required_field_is_asked_for(self):
        self.open()
        box = self.try_box("getTask")
        field = self.chrome.one("#getTask-id")
        field.clear()
        box.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
        self.assertEqual(self.state(box), "")
        self.assertEqual(self.chrome.switch_to.active_element.get_attribute("id"), "getTask-id")

    def test_a_request_is_made_by_keyboard_alone(self):
        self.open()
        summary = self.chrome.one("#health .try summary")
        self.chrome.execute_script("arguments[0].focus()", summary)
        self.chrome.key(Keys.ENTER)
        self.chrome.until(lambda: self.chrome.one("#health .try form"), "the form")
        for _ in range(10):
            self.chrome.key(Keys.TAB)
            if self.chrome.switch_to.active_element.get_attribute("type") == "submit":
                break
        self.chrome.key(Keys.ENTER)
        box = self.chrome.one("#health .try")
        self.chrome.until(lambda: self.state(box).startswith("200"), "an answer")

    def test_axe_finds_nothing_in_open_forms_with_answers_and_a_phone_needs_no_sideways_scrolling(self):
        self.expected = ["401"]
        self.open()
        self.send("health")
        self.send("listTasks")
        self.try_box("addTask")
        axe.check_looks(self, "open forms")
        self.chrome.size(360, 740)
        self.chrome.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
        self.assertEqual(self.chrome.execute_script("return document.documentElement.scrollWidth"), 360)


class Problems(PageTest):
    def shown(self):
        return [entry.get_attribute("id") for entry in self.chrome.all(".entry") if entry.is_displayed()]

    def test_words_filter_the_problems_and_their_links(self):
        self.person.open("/problems.html")
        whole = self.shown()
        axe.check_looks(self, "all problems")
        self.chrome.one("#words").send_keys("429 REQUESTS")
        self.chrome.until(lambda: self.chrome.one("#found").text == "2 of 50 problems", "the number")
        self.assertEqual(self.shown(), ["request.rate", "request.too_many_at_once"])
        self.assertEqual([link.text for link in self.chrome.all(".contents a") if link.is_displayed()], self.shown())
        self.assertEqual([part.text for part in self.chrome.all("main h2") if part.is_displayed()], ["The request"] * 2)
        axe.check_looks(self, "two problems")
        self.chrome.one("#words").send_keys("x")
        self.chrome.until(lambda: self.chrome.one("#found").text == "No problem has these words.", "the words")
        self.chrome.one("#words").send_keys(Keys.CONTROL + "a", Keys.DELETE)
        self.chrome.until(lambda: self.shown() == whole, "all")

    def test_without_a_script_all_problems_are_there_and_no_field(self):
        chrome = Chrome("--blink-settings=scriptEnabled=false")
        self.addCleanup(chrome.quit)
        chrome.get(f"{self.servers.page}/problems.html")
        self.assertEqual(len([entry for entry in chrome.all(".entry") if entry.is_displayed()]), 50)
        self.assertFalse(chrome.one("#words").is_displayed())
