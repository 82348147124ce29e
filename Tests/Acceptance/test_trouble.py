"""Sessions that end, connections that fail, servers that refuse: nothing is lost, nothing doubles."""

import contextlib

from selenium.webdriver.common.keys import Keys

from person import PASSWORD, NewcomerTest, PageTest, fetching
from servers import Handler, serving

NO_CONNECTION = r"ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE"


class BadGateway(Handler):
    """A proxy whose server does not run."""

    def do_GET(self):
        self.send_error(502)

    def do_POST(self):
        self.do_GET()


class SignInPage(BadGateway):
    """A network, or a proxy, that leads to a page of its own first."""

    def do_GET(self):
        self.send_response(200 if self.path == "/hello" else 302)
        self.send_header("Location", "/hello")
        self.end_headers()
        self.wfile.write(b"Who are you?")


class Sessions(PageTest):
    def test_an_expired_session_leads_to_the_authority_and_back_to_the_same_place(self):
        self.expected = ["401"]
        person = self.person
        self.newcomer()
        self.request("POST", "/api/tasks", {"task": "Buy bread", "due": "2020-01-01"})
        person.refresh()
        person.save("Buy milk")
        person.complete("Buy milk")
        person.await_saved()
        self.end_session()
        person.filter("today")
        person.add("Written after the end")
        person.await_texts("Buy bread", "Written after the end")
        person.await_status("Session ended, 1 change kept")
        self.chrome.one("#new").send_keys("A draft")
        self.chrome.one("#again").click()
        if "/authorize" in self.chrome.current_url:  # without a session there, the authority asks again
            person.fill(signInName=self.address, password=PASSWORD)
        person.await_list()
        person.await_texts("Buy bread", "Written after the end")
        self.assertEqual(self.chrome.one("#new").get_attribute("value"), "A draft")
        self.assertTrue(self.chrome.current_url.endswith("/#today"))
        self.assertEqual(self.saved(), [("Written after the end", False), ("Buy milk", True), ("Buy bread", False)])

    def test_a_session_that_the_server_does_not_take_at_all_ends_at_the_way_in(self):
        self.expected = ["401"]
        self.newcomer()
        self.change_session(token=self.servers.token(bad="wrong-aud"), owner=None)
        self.forget_refresh_token()
        self.chrome.refresh()
        self.person.await_welcome()
        self.assertIn("does not take this sign-in", self.chrome.words("#welcome-error"))


class Connections(NewcomerTest):
    def setUp(self):
        super().setUp()
        self.expected = [NO_CONNECTION]

    @contextlib.contextmanager
    def instead_of_the_server(self, handler):
        self.servers.stop_page()
        try:
            with serving(handler, self.servers.ports[0]):
                yield
        finally:
            self.servers.start_page()

    def test_a_network_that_wants_to_know_who_it_is_can_ask(self):
        self.await_worker()
        with self.instead_of_the_server(SignInPage):
            self.chrome.refresh()
            self.chrome.until(lambda: self.chrome.one("body").text == "Who are you?", "the page of the network")

    def test_a_proxy_without_its_server_hides_neither_the_page_nor_the_tasks(self):
        self.expected = [*self.expected, "502"]
        self.person.save("Buy milk")
        self.await_worker()
        with self.instead_of_the_server(BadGateway):
            self.person.add("Written without a server")
            self.person.await_status("Not saved, 1 change kept")
            self.chrome.refresh()
            self.person.await_status("Not saved, 1 change kept")
            self.person.await_texts("Written without a server", "Buy milk")
        self.person.await_status("Saved")
        self.assertEqual(self.saved(), [("Written without a server", False), ("Buy milk", False)])

    def test_what_one_tab_could_not_send_another_sends_once(self):
        first = self.chrome.current_window_handle
        second = self.new_tab()
        self.person.await_list()
        self.chrome.connect(False)
        self.person.add("Written in the second tab")
        # The first tab may look at the list, and send the change, before this one can show that it keeps it.
        self.person.await_status("Offline(, 1 change kept)?")
        self.go_to(first)
        self.person.await_texts("Written in the second tab")
        self.person.look_again()
        self.person.await_saved()
        self.go_to(second)
        self.person.go_online()
        self.person.await_texts("Written in the second tab")
        self.assertEqual(self.saved(), [("Written in the second tab", False)])

    def test_an_answer_that_is_lost_does_not_double_a_task(self):
        self.chrome.execute_script("Object.assign(window, { lost: 0, isLosing: true });" + fetching("""
            const answer = await real(url, options);
            if (options?.method !== "POST" || !isLosing) return answer;
            lost += 1;
            throw new TypeError("lost on the way back");"""))
        self.person.add("Buy milk")
        self.person.await_status("Offline, 1 change kept")
        self.chrome.until(lambda: self.chrome.execute_script("return lost") > 1, "a second try")
        self.chrome.execute_script("isLosing = false")
        self.person.await_saved()
        self.assertEqual(self.saved(), [("Buy milk", False)])

    def test_a_server_in_trouble_is_tried_again_and_a_refusal_is_shown(self):
        self.chrome.execute_script("const answers = [[503, 'store.overloaded'], [409, 'task.too_many']];" + fetching("""
            return options?.method === "POST" && answers.length ? problem(...answers.shift()) : real(url, options);""") + """
            // The next try takes the trouble away.
            const trouble = document.getElementById("trouble");
            window.troubles = [];
            new MutationObserver(() => troubles.push(trouble.textContent))
              .observe(trouble, { subtree: true, childList: true, characterData: true });""")
        self.person.add("Buy milk")
        self.chrome.until(lambda: "store.overloaded" in self.chrome.execute_script("return troubles.join()"), "the trouble")
        self.chrome.until(lambda: self.chrome.one(".problem").is_displayed(), "the refusal")
        self.assertIn("Title task.too_many", self.chrome.words(".problem"))
        self.person.await_status("1 change not saved")
        self.assertEqual(
            self.chrome.one(".problem a").get_attribute("href"), f"{self.servers.page}/problems.html#task.too_many")
        self.person.await_texts("Buy milk")
        self.chrome.one("[data-decision=retry]").click()
        self.person.await_saved()
        self.assertEqual(self.saved(), [("Buy milk", False)])

    def test_a_task_with_a_refused_change_can_be_deleted(self):
        self.person.save("Buy milk")
        self.chrome.execute_script("window.tries = [];" + fetching("""
            return ["POST", "PATCH"].includes(options?.method) && tries.push(options.body)
              ? problem(422, "task.text") : real(url, options);"""))
        self.person.rename("Buy milk", "Buy oat milk")
        self.person.add("Buy bread")
        self.person.await_status("2 changes not saved")
        tried = self.chrome.execute_script("return tries.splice(0)")
        self.assertEqual(self.chrome.words("#refused-text"), "The server refused 2 changes.")
        self.chrome.one("#retry").click()
        self.chrome.until(lambda: self.chrome.execute_script("return tries.length") == 2, "both to be sent again")
        self.assertEqual(sorted(self.chrome.execute_script("return tries")), sorted(tried))
        self.person.await_status("2 changes not saved")
        for text in ["Buy oat milk", "Buy bread"]:
            self.person.remove(text)
            self.chrome.until(lambda: text not in self.person.texts(), "the row to go")
            self.person.undo()
            self.chrome.until(lambda: "Title" in self.person.row(text).text, "the refusal")
            self.person.remove(text)
        self.person.await_texts()
        self.person.end_undo()
        self.person.await_status("Saved")
        self.assertEqual(self.saved(), [])
        self.person.refresh()
        self.person.await_texts()

    def test_a_list_that_comes_in_pages_is_shown_whole(self):
        self.person.save("One", "Two", "Three", "Four", "Five")
        self.chrome.execute_script("window.lists = [];" + fetching("""
            if (options?.method !== "GET" || !url.startsWith("/api/tasks")) return real(url, options);
            lists.push(url);
            return real(url === "/api/tasks" ? "/api/tasks?limit=2" : url, options);"""))
        self.request("POST", "/api/tasks", {"task": "Six"})
        self.person.look_again()
        self.person.await_texts("One", "Two", "Three", "Four", "Five", "Six")
        self.assertEqual(
            self.chrome.execute_script("return lists"),
            ["/api/tasks", "/api/tasks?limit=2&after=2", "/api/tasks?limit=2&after=4"])

    def test_signing_out_offline_tells_what_stays_behind(self):
        self.await_worker()
        self.chrome.connect(False)
        self.person.add("Written offline")
        self.person.await_status("Offline, 1 change kept")
        self.person.open_account()
        self.chrome.one("#sign-out").click()
        self.chrome.until(lambda: self.chrome.one("#leaving").is_displayed(), "the warning")
        self.assertIn("1 change is not saved yet. It stays in this browser and is saved when you", self.chrome.words("#leaving"))
        self.chrome.connect(True)
        self.chrome.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.person.look_again()
        self.person.await_saved()
