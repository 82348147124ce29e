"""A person at the page: what they do, and what they see."""

import datetime
import json
import re
import sys
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import servers
from chrome import Chrome
from firefox import Firefox
from servers import PASSWORD


def day(distance=0):
    """The day that is so many days from today, as the API writes it."""
    return (datetime.date.today() + datetime.timedelta(distance)).isoformat()


def in_both_browsers(tests):
    """Has the tests of a class run in Firefox, too, as a class of their own."""
    name = f"{tests.__name__}InFirefox"
    setattr(sys.modules[tests.__module__], name, type(name, (tests,), {"browser_type": Firefox, "__module__": tests.__module__}))
    return tests


# In a script of `fetching`, `real` is the browser's own `fetch`, `hold` waits for `release()`, and `problem` is a server's answer.
FETCH = """
    const real = window.fetch, hold = () => new Promise((go) => (window.release = go)), problem = (status, code, headers) =>
      new Response(JSON.stringify({ status, code, title: `Title ${code}`, detail: `Detail ${code}.` }), { status, headers });
    window.fetch = async (url, options) => {%s};"""


def fetching(script):
    """The JavaScript that has each request of a page go through a script, which gives the answer to a `url` and `options`."""
    return FETCH % script


class Person:
    def __init__(self, chrome, page):
        self.chrome = chrome
        self.page = page

    def open(self, path="/"):
        self.chrome.get(self.page + path)

    # At the authority

    def choose(self, policy):
        self.chrome.until(lambda: self.chrome.one(f"#policies [data-policy='{policy}']").is_displayed(), policy)
        self.chrome.one(f"#policies [data-policy='{policy}']").click()

    def fill(self, **fields):
        """Types into the fields of a form, and presses Enter in the last one."""
        for name, value in fields.items():
            self.chrome.until(lambda: self.chrome.find_element(By.NAME, name), name)
            field = self.chrome.find_element(By.NAME, name)
            field.clear()
            field.send_keys(value)
        field.send_keys(Keys.ENTER)

    def fill_at_once(self, **fields):
        """Has a form filled in, as a password manager does, and sends it: typing takes as long as most tests."""
        self.chrome.until(lambda: [self.chrome.find_element(By.NAME, name) for name in fields], f"the fields {list(fields)}")
        self.chrome.execute_script("""
            const fields = Object.entries(arguments[0]).map(([name, value]) =>
              Object.assign(document.getElementsByName(name)[0], {value}));
            for (const field of fields) field.dispatchEvent(new InputEvent("input", {bubbles: true}));
            fields[0].form.requestSubmit();""", fields)

    def sign_in(self, user="alice@example.com", password=PASSWORD):
        self.open()
        self.choose("b2c_1_sign_in")
        self.fill_at_once(signInName=user, password=password)
        self.await_list()

    def sign_up(self, email, name):
        self.open()
        self.choose("b2c_1_sign_up")
        self.fill_at_once(email=email, newPassword=PASSWORD, reenterPassword=PASSWORD, displayName=name)
        self.await_list()

    def sign_out(self):
        self.open_account()
        self.chrome.one("#sign-out").click()
        self.await_welcome()

    def open_account(self):
        self.chrome.one("#account").click()
        self.await_account()

    def await_account(self):
        self.chrome.until(lambda: self.chrome.one("#person").is_displayed(), "the dialog")

    def await_list(self):
        self.chrome.until(lambda: self.chrome.one("#tasks").is_displayed(), "the list")
        self.await_saved()

    def await_welcome(self):
        self.chrome.until(lambda: self.chrome.one("#welcome").is_displayed(), "the way in")

    # At the list

    def add(self, *texts):
        """Adds tasks, the last one first: a new one stands above the others, so they then stand in this order."""
        for text in reversed(texts):
            self.chrome.one("#new").send_keys(text, Keys.ENTER)

    def save(self, *texts):
        """Adds tasks, and waits until they are saved."""
        self.add(*texts)
        self.await_saved()

    def row(self, text):
        """The row of a task, as soon as it is there."""
        return self.chrome.until(lambda: self._row(text), f"the row {text!r}")

    def _row(self, text):
        for row in self.chrome.all(".rows > li"):
            if row.find_element(By.CSS_SELECTOR, ".text, .editor").text == text:
                return row
        return None

    def press(self, text, control):
        """Presses a button of a task's row, which is perhaps only there while one points at the row."""
        self.await_let_go()
        row = self.row(text)
        self.chrome.execute_script("arguments[0].scrollIntoView({ block: 'center' })", row)  # the offer of an undo is below
        ActionChains(self.chrome, 0).move_to_element(row).perform()
        row.find_element(By.CSS_SELECTOR, control).click()

    def complete(self, text):
        self.press(text, ".check")
        self.await_let_go()

    def remove(self, text):
        self.press(text, ".remove")
        self.await_let_go()

    def undo(self):
        """Presses Undo, as soon as it takes a click again."""
        self.chrome.until(lambda: not self.chrome.all("#undo.held"), "the button")
        self.chrome.one("#undo").click()

    def end_undo(self):
        """Leaves the page and comes back, so that deletions are sent and cannot be undone."""
        self.chrome.execute_script("dispatchEvent(new Event('pagehide'))")
        self.look_again()

    def await_let_go(self):
        """Waits until no row stays for a moment, because it was finished or deleted just now."""
        self.chrome.until(lambda: not self.chrome.all(".row.held"), "the rows to be let go")

    def rename(self, old, new):
        self.press(old, ".text")
        field = self.chrome.one(".editor textarea[name=text]")
        field.clear()
        field.send_keys(new, Keys.ENTER)

    def plan(self, text, *, due=None, notes=None):
        """Gives a task a due date, as an American types it ("" for none), and notes."""
        self.press(text, ".edit")
        if due is not None:
            field = self.chrome.one(".editor [name=due]")
            if not due:
                self.chrome.execute_script("arguments[0].value = ''", field)
            field.send_keys(due)
        if notes is not None:
            self.chrome.one(".editor [name=notes]").clear()
            self.chrome.one(".editor [name=notes]").send_keys(notes)
        self.chrome.one(".editor [type=submit]").click()

    def filter(self, name):
        self.chrome.one(f"#filters input[value={name}]").click()

    def texts(self):
        return [element.text for element in self.chrome.all(".rows > li:not(.editing) .text")]

    def done(self):
        return [element.text for element in self.chrome.all(".rows > li.done .text")]

    def status(self):
        return self.chrome.one("#status").text

    def await_texts(self, *texts):
        try:
            self.chrome.until(lambda: self.texts() == list(texts), f"the tasks {texts}")
        except Exception as error:
            raise AssertionError(f"expected {list(texts)}, there are {self.texts()}") from error

    def await_saved(self):
        self.await_status("Saved")

    def await_status(self, pattern):
        try:
            self.chrome.until(lambda: re.fullmatch(pattern, self.status()), f"the status {pattern}")
        except Exception as error:
            raise AssertionError(f"expected the status {pattern}, it is {self.status()!r}") from error

    def refresh(self):
        self.chrome.refresh()
        self.await_list()
        # The page shows the list that it has kept, and that all is saved, before the server has answered.
        answers = "return performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/api/tasks'))"
        self.chrome.until(lambda: self.chrome.execute_script(answers), "the answer of the server")

    def waiting(self):
        """The changes that the browser keeps, whoever's they are, oldest first."""
        return self.chrome.execute_async_script("""
            const [done] = arguments, request = indexedDB.open("tasks");
            request.onsuccess = () => {
              const all = request.result.transaction("changes").objectStore("changes").getAll();
              all.onsuccess = () => done(all.result);
              request.result.close();
            };""")

    def keep(self, *changes):
        """Puts changes of the person who is signed in into the database of the browser, as another tab of the page does."""
        self.chrome.execute_async_script("""
            const [changes, done] = arguments, { owner } = JSON.parse(sessionStorage["tasks.session"]);
            const request = indexedDB.open("tasks");
            request.onsuccess = () => {
              const transaction = request.result.transaction("changes", "readwrite");
              for (const change of changes) transaction.objectStore("changes").add({ ...change, owner });
              transaction.oncomplete = () => done(request.result.close());
            };""", changes)

    def deafen(self):
        """From now on this page hears of no change, and looks for none by itself, as a tab that is out of sight."""
        began = self.chrome.execute_script("""
            const now = performance.now();
            Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
            dispatchEvent(new Event("online"));
            return now;""")
        self.chrome.until(lambda: self.chrome.execute_script("""
            return performance.getEntriesByType("resource").some(({ name, startTime }) =>
                name.endsWith("/api/tasks") && startTime >= arguments[0]);""", began), "the last list")

    def await_held(self):
        """Waits until a script of `fetching` holds a request, or its answer."""
        self.chrome.until(lambda: self.chrome.execute_script("return Boolean(window.release)"), "a request that is held")

    def go_online(self):
        """Has a network again, and comes back to the tab, until all is saved."""
        self.chrome.connect(True)
        self.look_again()
        self.await_saved()

    def look_again(self):
        """Comes back to the tab."""
        self.chrome.execute_script("window.dispatchEvent(new Event('focus'))")


class PageTest(unittest.TestCase):
    """One browser a test; at the end, whatever the browser complained about that was not expected is a failure.

    Chromium itself writes a line for each answer of 400 and more and for each failed connection; a test that causes
    them names them in `expected`.
    """

    count = 0
    # Chromium gives requests up when the machine gets or loses an address, no matter what causes it; the page tries again.
    network_changed = "ERR_NETWORK_CHANGED"

    def setUp(self):
        self.servers = servers.shared()
        self.expected = []
        self.chrome = self.browser()
        self.person = Person(self.chrome, self.servers.page)

    browser_type = Chrome

    def browser(self):
        chrome = self.browser_type.take()
        self.addCleanup(self.check_and_quit, chrome)
        return chrome

    def check_and_quit(self, chrome):
        try:
            unexpected = [entry["message"] for entry in chrome.complaints()
                          if not any(re.search(pattern, entry["message"]) for pattern in [*self.expected, self.network_changed])]
        finally:
            chrome.quit()
        self.assertEqual(unexpected, [], "complaints of the browser")

    def await_worker(self):
        self.chrome.until(
            lambda: self.chrome.execute_async_script(
                "navigator.serviceWorker.ready.then((it) => arguments[0](Boolean(it.active)))"), "the worker")

    def session(self):
        return json.loads(self.chrome.execute_script("return sessionStorage['tasks.session'] ?? 'null'"))

    def change_session(self, **members):
        self.chrome.until(self.session, "a new tab's own session")
        session = json.dumps({**self.session(), **members})
        self.chrome.execute_script("sessionStorage['tasks.session'] = arguments[0]", session)

    def forget_refresh_token(self):
        self.chrome.execute_script("localStorage.removeItem('tasks.signed-in')")

    def end_session(self):
        """The session's token becomes one that the server refuses, and there is no other way to get one."""
        self.change_session(token=self.servers.token(bad="expired"))
        self.forget_refresh_token()
        self.chrome.refresh()
        self.await_ended()

    def expire(self):
        """Has the session's token end by the page's clock, and loads the page again."""
        self.change_session(expires=1)
        self.chrome.refresh()

    def await_ended(self):
        self.chrome.until(lambda: self.chrome.one("#ended").is_displayed(), "the end of the session")

    def new_tab(self):
        """A tab that somebody opens, without a copy of another tab's storage."""
        self.chrome.switch_to.new_window("tab")
        self.person.open()
        return self.chrome.current_window_handle

    def go_to(self, tab):
        self.chrome.switch_to.window(tab)

    def second_device(self):
        """The newcomer at another browser."""
        other = Person(self.browser(), self.servers.page)
        other.sign_in(self.address)
        return other

    def stranger(self):
        """An address that is not signed up yet."""
        PageTest.count += 1
        return f"{self._testMethodName.replace('_', '-')}-{PageTest.count}@example.com"

    def newcomer(self, name="Nora Newcomer"):
        """Signs a new person up; returns the address."""
        self.address = self.stranger()
        self.person.sign_up(self.address, name)
        return self.address

    def request(self, method, path, body=None):
        """A request of the newcomer to the API, without the browser; the answer's JSON."""
        return self.servers.request(method, path, body, self.address)

    def fill(self, *tasks):
        """Adds tasks elsewhere, in this order, as texts or as JSON, and shows them."""
        for task in tasks:
            self.request("POST", "/api/tasks", {"task": task} if isinstance(task, str) else task)
        self.person.refresh()
        self.chrome.until(lambda: len(self.chrome.all(".rows > li")) >= len(tasks), "the tasks")

    def on_server(self):
        """The newcomer's tasks as the API has them."""
        return self.request("GET", "/api/tasks")

    def saved(self):
        """The texts of these tasks, and whether they are completed, in the person's order."""
        tasks = sorted(self.on_server(), key=lambda task: (task.get("position", task["Id"]), task["Id"]))
        return [(task["task"], task["completed"]) for task in tasks]


class NewcomerTest(PageTest):
    """Each test begins at the empty list of somebody who has just signed up."""

    def setUp(self):
        super().setUp()
        self.newcomer()
