"""What one device changes is on the others at once, by the stream of changes, and not by asking every ten seconds."""

import contextlib
import re
import sys
import urllib.request

from selenium.webdriver.common.keys import Keys

from firefox import Firefox
from person import PASSWORD, PageTest, Person, fetching
from servers import ROOT, free_port
from test_trouble import NO_CONNECTION

sys.path += [str(ROOT / "Tests/Adversity"), str(ROOT / "Benchmarks")]

from database import Database  # noqa: E402

SOON = 5  # seconds; a tenth of a second, as a rule

IS_LIVE = """
    const [done] = arguments;
    navigator.locks.query().then(({ held }) => done(held.some(({ name }) => name.endsWith("stream.live"))));"""
COUNT_LISTS = "window.lists = 0;" + fetching("""
    if (url === "/api/tasks" && options.method === "GET") lists += 1;
    return real(url, options);""")


class Live(PageTest):
    def await_live(self, person):
        person.chrome.until(lambda: person.chrome.execute_async_script(IS_LIVE), "the stream")

    def await_soon(self, person, *texts):
        person.chrome.until(lambda: person.texts() == list(texts), f"the tasks {texts}, there are {person.texts()}", SOON)

    @contextlib.contextmanager
    def without_asking(self, *people):
        """Nobody reads the whole list meanwhile."""
        for person in people:
            person.chrome.execute_script(COUNT_LISTS)
        yield
        self.assertEqual([person.chrome.execute_script("return lists") for person in people], [0] * len(people))


class TwoBrowsers(Live):
    """One person at Chromium and at Firefox."""

    def begin(self, page, other_page=None):
        self.person = Person(self.chrome, page)
        self.newcomer()
        firefox = Firefox.take()
        self.addCleanup(self.check_and_quit, firefox)
        self.other = Person(firefox, other_page or page)
        self.other.sign_in(self.address, PASSWORD)
        for person in [self.person, self.other]:
            self.await_live(person)

    def check_both_ways(self):
        with self.without_asking(self.person, self.other):
            self.person.add("Buy milk")
            self.await_soon(self.other, "Buy milk")
            self.other.add("Buy bread")
            self.await_soon(self.person, "Buy bread", "Buy milk")
            self.person.complete("Buy milk")
            self.other.chrome.until(lambda: self.other.done() == ["Buy milk"], "the tick", SOON)

    def test_what_one_does_is_on_the_other(self):
        self.begin(self.servers.page)
        self.check_both_ways()

    def test_an_edit_is_kept_and_a_conflict_shown(self):
        self.begin(self.servers.page)
        self.person.save("Buy milk")
        self.await_soon(self.other, "Buy milk")
        self.other.press("Buy milk", ".text")
        field = self.other.chrome.one(".editor [name=text]")
        field.send_keys(" and honey")
        self.person.rename("Buy milk", "Buy oat milk")
        self.person.add("Buy bread")
        self.await_soon(self.other, "Buy bread")
        self.assertEqual(field.get_attribute("value"), "Buy milk and honey")
        self.assertEqual(self.other.chrome.switch_to.active_element, field)
        field.send_keys(Keys.ENTER)
        self.other.chrome.until(lambda: "changed elsewhere to “Buy oat milk”" in self.other.chrome.one(".problem").text, "the conflict")
        self.await_soon(self.person, "Buy bread", "Buy oat milk")
        self.other.chrome.one("[data-decision=mine]").click()
        self.await_soon(self.person, "Buy bread", "Buy milk and honey")

    def test_with_two_servers_on_postgresql(self):
        with Database(self.servers.folder / "postgresql") as database:
            with contextlib.ExitStack() as stack:
                pages = [stack.enter_context(self.servers.another_page(TASKS_DATABASE=database.address())) for _ in range(2)]
                self.begin(*pages)
                self.check_both_ways()
                for person in [self.person, self.other]:
                    person.chrome.get("about:blank")  # so that no request finds the servers gone


class OneBrowser(Live):
    @contextlib.contextmanager
    def counted(self):
        """At a server that tells how many streams it has."""
        port = free_port()
        self.metrics = f"http://127.0.0.1:{port}/metrics"
        with self.servers.another_page(TASKS_ADMIN_LISTEN=f"127.0.0.1:{port}") as page:
            self.person = Person(self.chrome, page)
            self.newcomer()
            self.await_streams(1)
            yield
            self.chrome.get("about:blank")

    def await_streams(self, count):
        def open_now():
            with urllib.request.urlopen(self.metrics) as answer:
                return int(re.search(r"^tasks_streams_open (\d+)", answer.read().decode(), re.MULTILINE)[1])
        self.chrome.until(lambda: open_now() == count, f"{count} streams")

    def add_elsewhere(self, text):
        request = urllib.request.Request(
            f"{self.person.page}/api/tasks", f"task={text}".encode(), {"Authorization": f"Bearer {self.session()['token']}"})
        with urllib.request.urlopen(request):
            pass

    def test_one_tab_holds_the_stream_for_all(self):
        with self.counted():
            first = self.chrome.current_window_handle
            second = self.new_tab()
            self.person.await_list()
            self.chrome.until(self.session, "a session of its own")
            with self.without_asking(self.person):
                self.add_elsewhere("one")
                self.await_soon(self.person, "one")
            self.await_streams(1)
            self.go_to(first)
            self.await_soon(self.person, "one")
            self.chrome.close()
            self.go_to(second)
            self.await_live(self.person)
            self.add_elsewhere("two")
            self.await_soon(self.person, "one", "two")
            self.await_streams(1)

    def test_a_tab_out_of_sight_lets_it_go_and_who_signs_out_ends_it(self):
        with self.counted():
            self.chrome.before_each_page("""
                const later = window.setTimeout.bind(window);
                window.setTimeout = (action, time, ...rest) => later(action, time === 60000 ? 100 : time, ...rest);
                window.visibility = "visible";
                Object.defineProperty(document, "visibilityState", { get: () => visibility });""")
            self.person.refresh()
            for state, count in [("visible", 1), ("hidden", 0), ("visible", 1)]:
                self.chrome.execute_script(
                    "window.visibility = arguments[0]; document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))", state)
                self.await_streams(count)
            self.await_live(self.person)
            self.person.sign_out()
            self.await_streams(0)

    def test_what_is_done_here_is_not_read_again(self):
        with self.counted():
            self.await_live(self.person)
            with self.without_asking(self.person):
                self.person.save("one", "two")
                self.person.complete("one")
                self.person.rename("two", "three")
                self.person.await_saved()
                self.add_elsewhere("four")
                self.await_soon(self.person, "three", "four", "one")

    # Hands the events of the stream out one by one, when `isHolding`.
    HOLD = """
        const real = window.fetch, [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
        Object.assign(window, { isHolding: false, held: [] });
        window.fetch = async (url, options) => {
          const answer = await real(url, options);
          if (url !== "/api/tasks/changes") return answer;
          let text = "";
          const events = new TransformStream({ async transform(part, to) {
            const whole = (text + decoder.decode(part)).split("\\n\\n");
            text = whole.pop();
            for (const event of whole) {
              if (isHolding) await new Promise((go) => held.push(go));
              to.enqueue(encoder.encode(`${event}\\n\\n`));
            }
          } });
          return new Response(answer.body.pipeThrough(events), answer);
        };"""

    def test_an_event_that_comes_after_a_later_answer_brings_nothing_old_back(self):
        self.newcomer()
        self.chrome.before_each_page(self.HOLD)
        self.person.refresh()
        self.await_live(self.person)
        self.chrome.execute_script("isHolding = true")
        self.person.save("one")
        self.person.complete("one")
        self.person.await_saved()
        self.assertEqual(self.saved(), [("one", True)])
        self.chrome.until(lambda: self.chrome.execute_script("return held.length"), "the event of the addition")
        # Nothing happens for half a second.
        self.chrome.execute_async_script("held.shift()(); setTimeout(arguments[0], 500)")
        self.assertEqual(self.person.done(), ["one"])
        self.chrome.execute_script("isHolding = false; held.forEach((go) => go())")
        for completed in [False, True]:
            self.request("PATCH", "/api/tasks/1", {"completed": completed})
            self.chrome.until(lambda: self.person.done() == ["one"] * completed, "the other device's change", SOON)

    def test_a_stream_that_ends_is_begun_again_and_nothing_is_lost_between(self):
        self.expected = [NO_CONNECTION, "ERR_INCOMPLETE_CHUNKED_ENCODING"]
        self.newcomer()
        self.await_live(self.person)
        self.servers.stop_page()
        self.chrome.until(lambda: not self.chrome.execute_async_script(IS_LIVE), "the end of the stream")
        self.servers.start_page()
        self.request("POST", "/api/tasks", {"task": "Meanwhile"})
        self.await_live(self.person)
        self.person.await_texts("Meanwhile")
        with self.without_asking(self.person):
            self.request("POST", "/api/tasks", {"task": "Live"})
            self.await_soon(self.person, "Meanwhile", "Live")

    # Answers the requests for a stream with `answers` in turn, then as the server does; a second lasts a millisecond for pauses.
    ANSWERS = """
        const real = window.fetch, later = window.setTimeout.bind(window), [answers] = [%s];
        Object.assign(window, { asked: [], waits: [] });
        window.setTimeout = (action, time, ...rest) => later(action, waits.push(time) && time > 3000 && ![15000, 45000].includes(time) ? time / 1000 : time, ...rest);
        window.fetch = async (url, options) => {
          if (url !== "/api/tasks/changes") return real(url, options);
          asked.push(options.headers["Last-Event-ID"]);
          const [status, headers, code] = answers.shift() ?? [];
          return status ? new Response(JSON.stringify({ code }), { status, headers }) : real(url, options);
        };"""

    def test_a_stream_that_is_refused_is_asked_for_less_and_less_often(self):
        self.newcomer()
        answers = '[[404], [503, { "Retry-After": "7000" }], [429, { "Retry-After": "1" }], [410, {}, "changes.forgotten"]]'
        self.chrome.before_each_page(self.ANSWERS % answers)
        self.person.refresh()
        self.await_live(self.person)
        asked, waits = self.chrome.execute_script("return [asked, waits]")
        self.assertEqual(len(asked), 5, (asked, waits))
        self.assertTrue(all(asked[:4]))
        self.assertIsNone(asked[4])  # the server does not know what has happened since then
        self.assertIn(7_000_000, waits)
        self.assertTrue([wait for wait in waits if 4000 <= wait <= 8000], waits)
