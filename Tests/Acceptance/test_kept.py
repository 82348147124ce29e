"""What the page calls kept outlives a kill of the browser, a wrong clock and a network that answers in the server's place."""

import json
import shutil
import tempfile
import time

from firefox import Firefox
from person import PASSWORD, NewcomerTest, Person, fetching
from test_trouble import NO_CONNECTION

# Writes as fast as a page can: typing takes a tenth of a second for each task.
WRITE = """
    const [texts] = arguments, field = document.getElementById("new");
    for (const text of texts) {
      field.value = text;
      field.form.requestSubmit();
    }"""

# The page's clock, for its times and its timestamps alike.
CLOCK = """
    const Real = Date, now = Date.now;
    window.shift = Number(localStorage["test.shift"] ?? 0);
    window.Date = class extends Real {
      constructor(...parts) {
        if (parts.length) super(...parts);
        else super(now() + window.shift);
      }
      static now() { return now() + window.shift; }
    };"""

# What the page asks of the API is in `sent`. `portal` is a network that answers some methods in the server's place, `isDeaf`
# one that loses every answer to an addition; the server has forgotten the key of one that is repeated then. `portals`
# are the answers of others to the requests of which `answer` says the end of the address.
NETWORK = """
    const real = window.fetch, answerOf = ({ status, body, type }) =>
      new Response(body, { status, headers: body === null ? {} : { "Content-Type": type } });
    const { 0: end, ...others } = JSON.parse(localStorage["test.portals"] ?? "{}");
    Object.assign(window, { portal: null, isDeaf: false, sent: [], portals: Object.values(others) });
    window.fetch = async (url, options) => {
      if (portals.length && String(url).endsWith(end)) return answerOf(portals.shift());
      if (!String(url).startsWith("/api/")) return real(url, options);
      sent.push(`${options.method} ${url}`);
      if (window.portal?.methods.includes(options.method)) return answerOf(portal);
      if (options.method === "POST" && sent.filter((request) => request.startsWith("POST")).length > 1) {
        options = { ...options, headers: { ...options.headers, "Idempotency-Key": crypto.randomUUID() } };
      }
      const answer = await real(url, options);
      if (window.isDeaf && options.method === "POST") throw new TypeError("lost on the way back");
      return answer;
    };"""

PORTALS = [
    {"status": 200, "body": "<!doctype html><title>Welcome</title>", "type": "text/html"},
    {"status": 200, "body": '{"signedIn": false}', "type": "application/json"},
    {"status": 200, "body": "[]", "type": "application/json"},
    {"status": 204, "body": None},
    {"status": 404, "body": '{"code": "NOT_FOUND"}', "type": "application/json"},
]


class Kept(NewcomerTest):
    def setUp(self):
        super().setUp()
        self.expected = [NO_CONNECTION]

    def texts_on_server(self):
        return [task["task"] for task in self.on_server()]

    def write(self, texts):
        self.chrome.execute_script(WRITE, texts)

    def before_each_page(self, script):
        """From now on, on this page, too."""
        self.chrome.before_each_page(script)
        self.chrome.execute_script(script)

    def api_is_reachable(self, is_reachable):
        """Without it, the page itself can be loaded."""
        self.expected = [*self.expected, "ERR_BLOCKED_BY_CLIENT"]
        self.chrome.block(*([] if is_reachable else ["*/api/*"]))

    def set_clock(self, hours):
        """Puts the clock of the next pages forward or back; the session's token lives as long as before."""
        self.chrome.execute_script("localStorage['test.shift'] = arguments[0] * 3600000", hours)
        self.change_session(expires=self.session()["expires"] + hours * 3600000)
        self.chrome.refresh()

    def sent(self, method):
        return [request for request in self.chrome.execute_script("return sent") if request.startswith(method)]


class Kills(Kept):
    """Browsers with a profile of their own, in which they are started again."""

    def browser(self):
        if not hasattr(self, "profile"):
            self.profile = tempfile.mkdtemp(prefix="tasks-profile-")
            self.addCleanup(shutil.rmtree, self.profile, ignore_errors=True)
        browser = self.browser_type(profile=self.profile)
        self.addCleanup(browser.quit)
        return browser

    def kill_and_start_again(self, seconds, kept):
        """Kills the browser so many seconds after the page called so many changes kept; then the person comes back."""
        self.person.await_status(f"Offline, {kept} changes kept")
        time.sleep(seconds)  # until the browser writes something by itself
        self.chrome.kill()
        self.chrome = self.browser()
        self.person = Person(self.chrome, self.servers.page)
        self.person.open()
        # The session, unlike the changes, may not have reached the disk.
        self.chrome.until(lambda: self.chrome.one("#welcome").is_displayed() or self.chrome.one("#tasks").is_displayed(), "the page")
        if self.chrome.one("#welcome").is_displayed():
            self.person.sign_in(self.address, PASSWORD)
        self.person.await_saved()

    def check_additions(self):
        self.chrome.connect(False)
        texts = [f"Task {number}" for number in range(60)]
        for begin in range(0, 60, 10):
            self.write(texts[begin:begin + 10])
            self.chrome.until(lambda: len(self.person.texts()) == begin + 10, "the rows")
        self.kill_and_start_again(0, 60)
        self.assertEqual(self.texts_on_server(), texts)


class Killed(Kills):
    def test_changes_outlive_a_kill_soon_after_the_last_one(self):
        """17 changes: additions, a new text for each, and ticks."""
        self.chrome.connect(False)
        for number in range(8):
            self.write([f"Task {number}"])
            self.person.rename(f"Task {number}", f"Changed {number}")
        self.person.complete("Changed 7")
        self.kill_and_start_again(0.3, 17)
        self.assertEqual(self.saved(), [(f"Changed {number}", number == 7) for number in reversed(range(8))])

    def test_additions_outlive_a_kill(self):
        self.check_additions()


class KilledFirefox(Kills):
    browser_type = Firefox

    def test_additions_outlive_a_kill(self):
        self.check_additions()


class WrongClock(Kept):
    def setUp(self):
        super().setUp()
        self.before_each_page(CLOCK)

    def check_edits_after(self, hours):
        self.api_is_reachable(False)
        self.person.add("Buy milk", "Buy bread")
        self.person.await_status("Offline, 2 changes kept")
        self.set_clock(hours)
        self.person.rename("Buy milk", "Buy oat milk")
        self.person.remove("Buy bread")
        self.person.complete("Buy oat milk")
        self.set_clock(0)
        self.person.await_texts("Buy oat milk")
        self.api_is_reachable(True)
        self.person.look_again()
        self.chrome.until(lambda: self.saved() == [("Buy oat milk", True)], "all changes")
        self.person.await_saved()

    def test_a_clock_that_is_put_back_changes_nothing(self):
        self.check_edits_after(-48)

    def test_a_clock_that_is_put_forward_changes_nothing(self):
        self.check_edits_after(48)


    def test_an_edit_that_is_kept_before_its_addition_waits_for_it(self):
        """A full database may take the edit, and the addition only later."""
        self.before_each_page(NETWORK)
        self.person.keep(
            {"key": "edit", "kind": "change", "target": "addition", "text": "Buy oat milk", "base": "Buy milk"},
            {"key": "addition", "kind": "add", "text": "Buy milk", "completed": False})
        self.person.refresh()
        self.chrome.until(lambda: self.texts_on_server() == ["Buy oat milk"], "the edit")
        self.person.await_saved()
        self.assertEqual(self.sent("PATCH"), ["PATCH /api/tasks/1"])


class OldAdditions(Kept):
    """Additions that were sent more than a day ago, and never answered."""

    def setUp(self):
        super().setUp()
        self.before_each_page(CLOCK + NETWORK)

    def decide(self, decision):
        """Loses the answer to an addition, and answers the question about it a day later."""
        self.chrome.execute_script("window.isDeaf = true")
        self.person.add("Buy milk")
        self.person.await_status("Offline, 1 change kept")
        self.assertEqual(self.texts_on_server(), ["Buy milk"])
        self.set_clock(25)
        self.chrome.until(lambda: self.chrome.one(".problem").is_displayed(), "the question")
        self.assertIn("Added already?", self.chrome.one(".problem").text)
        self.assertEqual(self.sent("POST"), [])
        self.chrome.one(f"[data-decision={decision}]").click()
        self.person.await_saved()

    def test_one_that_is_in_the_list_is_asked_about(self):
        self.decide("discard")
        self.person.await_texts("Buy milk")
        self.assertEqual(self.texts_on_server(), ["Buy milk"])

    def test_both_are_kept_if_the_person_wants_that(self):
        self.decide("again")
        self.assertEqual(self.texts_on_server(), ["Buy milk", "Buy milk"])

    def test_one_that_never_arrived_is_added_without_a_question(self):
        self.person.save("Buy milk")
        self.api_is_reachable(False)
        self.person.add("Buy milk", "Buy bread")
        self.person.await_status("Offline, 2 changes kept")
        self.set_clock(25)
        self.person.await_status("Offline, 2 changes kept")
        self.api_is_reachable(True)
        self.person.look_again()
        self.person.await_saved()
        self.assertEqual(self.texts_on_server(), ["Buy milk", "Buy bread", "Buy milk"])


class Portals(Kept):
    def setUp(self):
        super().setUp()
        self.person.save("two", "one")  # the server lists "one" first
        self.before_each_page(NETWORK)

    def behind(self, method, change):
        """Makes a change behind each of the portals, and then without one."""
        for portal in PORTALS:
            with self.subTest(portal=portal):
                self.chrome.execute_script("window.portal = arguments[0]; sent.length = 0", {**portal, "methods": [method]})
                change()
                self.person.await_status(r"Offline(, \d changes? kept)?")
                self.person.look_again()
                self.chrome.until(lambda: len(self.sent(method)) >= 2, "a second attempt")
                self.person.await_status(r"Offline(, \d changes? kept)?")
                self.assertFalse(self.chrome.one("#ended").is_displayed())
                self.chrome.execute_script("window.portal = null")
                self.person.look_again()
                self.person.await_saved()

    def test_an_addition_is_made_when_the_server_is_reached(self):
        self.behind("POST", lambda: self.person.add("three"))
        self.assertEqual(self.texts_on_server(), ["one", "two"] + ["three"] * len(PORTALS))

    def test_a_change_is_made_when_the_server_is_reached(self):
        self.behind("PATCH", lambda: self.person.complete("two"))
        self.assertEqual([task["completed"] for task in self.on_server()], [False, len(PORTALS) % 2 == 1])
        number = iter(range(10))
        self.behind("PATCH", lambda: self.person.rename(*[f"one{'!' * (count + more)}" for count in [next(number)] for more in [0, 1]]))
        self.assertEqual(self.texts_on_server()[0], "one" + "!" * len(PORTALS))

    def test_a_list_of_changes_is_made_when_the_server_is_reached(self):
        def tick():
            for text in ["one", "two"]:
                self.person.complete(text)
            self.chrome.until(lambda: "PATCH /api/tasks" in self.sent("PATCH"), "a list of changes")
        self.behind("PATCH", tick)
        self.assertEqual([task["completed"] for task in self.on_server()], [len(PORTALS) % 2 == 1] * 2)

    def test_a_deletion_is_made_when_the_server_is_reached(self):
        def remove():
            self.person.remove(self.person.texts()[-1])
            self.chrome.execute_script("dispatchEvent(new Event('pagehide'))")  # the time of undo is over
            self.person.look_again()
        for _ in PORTALS:
            self.request("POST", "/api/tasks", {"task": "more"})
        self.person.refresh()
        self.behind("DELETE", remove)
        self.assertEqual(self.texts_on_server(), ["one", "two"])

    def test_a_list_is_that_of_the_server(self):
        self.behind("GET", self.person.look_again)
        self.person.await_texts("two", "one")

    def answer(self, end, *portals):
        """From the next page on, requests to addresses that end so get these answers in turn, then the right one."""
        self.chrome.execute_script("localStorage['test.portals'] = JSON.stringify(arguments)", end, *portals)

    def test_a_renewal_is_made_when_the_sign_in_service_is_reached(self):
        self.answer("/token", *PORTALS)
        self.expire()

        def are_all_answered():
            self.person.look_again()
            return self.chrome.execute_script("return portals.length") == 0
        self.chrome.until(are_all_answered, "all answers")
        self.person.await_saved()
        self.assertFalse(self.chrome.one("#ended").is_displayed())
        self.person.save("three")
        self.assertEqual(self.texts_on_server(), ["one", "two", "three"])

    def test_settings_and_descriptions_are_those_of_the_server_and_the_sign_in_service(self):
        self.answer("tasks.html", PORTALS[1])
        self.chrome.refresh()
        self.person.await_welcome()
        self.assertIn("The server cannot be reached", self.chrome.words("#welcome-error"))
        self.answer("tasks.html")
        self.person.refresh()
        self.person.sign_out()
        self.answer("config.json", PORTALS[1])
        self.person.open()
        self.assertIn("The server cannot be reached", self.chrome.words("#welcome-error"))
        for portal in PORTALS:
            self.answer("/openid-configuration", portal)
            self.person.open()
            self.person.choose("b2c_1_sign_in")
            self.assertIn("The sign-in service", self.chrome.words("#welcome-error"))

    def test_a_page_opened_behind_one_says_that_the_server_is_not_reached(self):
        self.before_each_page("sessionStorage.removeItem('tasks.session');")
        self.before_each_page(f"window.portal = {{...{json.dumps(PORTALS[0])}, methods: ['GET']}};")
        self.chrome.execute_script("""
            const all = JSON.parse(localStorage["tasks.signed-in"]);
            localStorage["tasks.signed-in"] = JSON.stringify({ ...all, owner: undefined, claims: undefined });""")
        self.chrome.refresh()
        self.person.await_welcome()
        self.assertIn("cannot be reached", self.chrome.words("#welcome-error"))


class FullStorage(Kept):
    def room(self, **quota):
        self.chrome.execute_cdp_cmd("Storage.overrideQuotaForOrigin", {"origin": self.servers.page, **quota})

    def test_what_cannot_be_kept_is_said_and_sent(self):
        self.room(quotaSize=1)
        self.chrome.connect(False)
        self.person.add("one", "two", "three")
        self.person.await_status("Offline, 3 changes not kept")
        self.assertIn("could not keep your latest changes on this device", self.chrome.words("#trouble"))
        self.room()
        self.person.add("four")
        self.person.look_again()
        self.person.await_status("Offline, 4 changes kept")
        self.chrome.until(lambda: not self.chrome.one("#trouble").is_displayed(), "the end of the trouble")
        self.chrome.execute_script("""
            const full = () => { throw new DOMException("full", "QuotaExceededError"); };
            Object.assign(IDBObjectStore.prototype, { add: full, put: full });""")
        self.person.rename("one", "five")
        self.person.complete("four")
        self.person.await_status("Offline, 4 changes kept, 2 changes not kept")
        self.person.go_online()
        self.assertFalse(self.chrome.one("#trouble").is_displayed())
        self.assertEqual(self.texts_on_server(), ["three", "two", "five", "four"])
        self.person.refresh()
        self.person.await_texts("five", "two", "three", "four")

    def test_a_browser_without_a_database_saves_all_the_same(self):
        self.before_each_page("IDBFactory.prototype.open = () => { throw new DOMException('', 'SecurityError'); };")
        self.person.refresh()
        self.person.add("one", "two")
        self.person.rename("one", "three")
        self.person.await_saved()
        self.assertEqual(self.texts_on_server(), ["two", "three"])

    def test_a_database_that_never_answers_holds_up_nothing(self):
        self.before_each_page("IDBFactory.prototype.open = () => ({});")
        self.person.refresh()
        self.person.save("one")
        self.assertEqual(self.texts_on_server(), ["one"])

    def test_a_change_is_kept_when_its_transaction_is_complete(self):
        self.before_each_page("""
            const set = function (complete) { Object.assign(window, { complete, durability: this.durability }); };
            Object.defineProperty(IDBTransaction.prototype, "oncomplete", { set });""")
        self.person.refresh()
        self.chrome.connect(False)
        self.person.add("one")
        self.person.await_status("Offline, 1 change being kept")
        self.assertEqual([change["text"] for change in self.person.waiting()], ["one"])
        self.chrome.execute_script("complete()")
        self.person.await_status("Offline, 1 change kept")
        self.assertEqual(self.chrome.execute_script("return durability"), "strict")
        self.chrome.connect(True)

    def test_storage_that_is_blocked_says_what_to_do(self):
        self.chrome.before_each_page("""
            Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("", "SecurityError"); } });""")
        self.chrome.refresh()
        self.assertIn("Allow cookies and site data", self.chrome.words("#welcome-error"))

    def test_full_local_storage_stops_nothing(self):
        self.change_session(expires=1)
        self.before_each_page("""
            const real = Storage.prototype.setItem;
            Storage.prototype.setItem = function (name, value) {
              if (name !== localStorage["test.room"]) throw new DOMException("full", "QuotaExceededError");
              real.call(this, name, value);
            };""")
        self.person.refresh()
        self.person.add("one", "two", "three")
        self.person.complete("one")
        self.person.await_saved()
        self.assertEqual(self.saved(), [("one", True), ("two", False), ("three", False)])
        self.chrome.one("#finished-toggle").click()
        self.person.sign_out()
        self.assertIsNone(self.chrome.execute_script("return localStorage['tasks.signed-in'] ?? null"))
        self.person.choose("b2c_1_sign_in")
        self.assertIn("no room", self.chrome.words("#welcome-error"))
        self.chrome.execute_script("localStorage['test.room'] = 'tasks.attempt'")
        self.person.choose("b2c_1_sign_in")
        self.person.fill_at_once(signInName=self.address, password=PASSWORD)
        self.chrome.until(lambda: "no room" in self.chrome.one("#welcome-error").text, "the complaint")

    def test_a_full_cache_keeps_no_file_from_the_page(self):
        self.chrome.until(lambda: self.chrome.execute_async_script("""
            const [done] = arguments;
            navigator.serviceWorker.ready.then(() => caches.keys()).then(async ([name]) =>
              done(await caches.open(name).then((cache) => cache.delete("/view.js"))));"""), "a file to leave the cache")
        self.room(quotaSize=1)
        self.person.refresh()
        self.person.save("one")


class ManyAdditions(Kept):
    def test_an_edit_outlives_a_hundred_additions_after_it(self):
        self.before_each_page(fetching("""
            return options?.method === "PATCH" && !window.isMended ? problem(422, "task.text") : real(url, options);"""))
        self.chrome.connect(False)
        self.write(["Buy milk"])
        self.person.rename("Buy milk", "Buy oat milk")
        self.write([f"Task {number}" for number in range(110)])
        self.chrome.connect(True)
        self.person.look_again()
        self.person.await_status("1 change not saved")
        self.chrome.refresh()
        self.person.await_status("1 change not saved")
        self.assertEqual(self.person.texts()[-1], "Buy oat milk")
        self.chrome.execute_script("window.isMended = true")
        self.chrome.one("[data-decision=retry]").click()
        self.person.await_saved()
        self.assertEqual(self.texts_on_server()[0], "Buy oat milk")
        self.assertEqual(len(self.on_server()), 111)


class TwoTabs(Kept):
    """A second tab changes a task whose addition is on its way from the first."""

    def setUp(self):
        super().setUp()
        self.chrome.execute_script(fetching("""
            const answer = await real(url, options);
            if (options?.method === "POST") await hold();
            return answer;"""))
        self.person.add("Buy milk")
        self.person.await_held()
        self.first = self.chrome.current_window_handle
        self.second = self.new_tab()
        self.person.await_texts("Buy milk")

    def release(self):
        self.go_to(self.first)
        self.chrome.execute_script("release()")

    def check_the_first_saves_what_the_second_left(self):
        self.go_to(self.second)
        self.person.rename("Buy milk", "Buy oat milk")
        self.chrome.until(lambda: len(self.person.waiting()) == 2, "the change to be kept")
        self.chrome.close()
        self.release()
        self.person.await_texts("Buy oat milk")
        self.person.await_saved()
        self.assertEqual(self.texts_on_server(), ["Buy oat milk"])

    def test_the_change_is_saved_also_if_the_second_is_closed(self):
        self.check_the_first_saves_what_the_second_left()

    def test_the_change_is_saved_also_if_the_database_gives_it_too_late(self):
        self.go_to(self.first)
        self.chrome.execute_script("""
            const real = IDBIndex.prototype.getAll;
            IDBIndex.prototype.getAll = function (...values) {
              const request = real.apply(this, values), late = {};
              request.onsuccess = () => setTimeout(() => { late.result = request.result; late.onsuccess(); }, 4000);
              return late;
            };""")
        self.check_the_first_saves_what_the_second_left()

    def test_a_change_that_only_the_second_has_learns_the_id(self):
        self.chrome.execute_script("""
            IDBObjectStore.prototype.add = () => { throw new DOMException("full", "QuotaExceededError"); };""")
        self.person.rename("Buy milk", "Buy oat milk")
        self.chrome.until(lambda: "could not keep" in self.chrome.one("#trouble").text, "the trouble")
        self.release()
        self.go_to(self.second)
        self.person.await_saved()
        self.assertEqual(self.texts_on_server(), ["Buy oat milk"])
