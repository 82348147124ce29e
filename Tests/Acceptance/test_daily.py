"""A day with the list: clicks, steps back, keys and notices do what a hand expects, in both browsers."""

import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from firefox import Firefox
from person import NewcomerTest, fetching, in_both_browsers


class Daily(NewcomerTest):
    def click_twice(self, element):
        """Clicks twice on the same place, 250 ms apart, which is where a slow hand hits what came there.

        The page's own clock measures that time: a browser under load may take a second from one click of WebDriver's to the next.
        """
        self.chrome.execute_async_script("""
            const [element, done] = arguments, { x, y, width, height } = element.getBoundingClientRect();
            const click = () => document.elementFromPoint(x + width / 2, y + height / 2)
              .dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, view: window }));
            click();
            setTimeout(() => done(click()), 250);""", element)


@in_both_browsers
class Clicks(Daily):
    def twice(self, text, control):
        self.click_twice(self.person.row(text).find_element("css selector", control))

    def test_a_second_click_finishes_and_deletes_no_other_task(self):
        self.fill("one", "two", "three", "four")
        self.twice("one", ".check")
        self.person.await_let_go()
        self.person.await_texts("two", "three", "four", "one")
        self.assertEqual(self.person.done(), ["one"])
        self.twice("two", ".remove")
        self.person.await_let_go()
        self.person.await_texts("three", "four", "one")
        self.twice("one", ".check")  # opens it again
        self.person.await_let_go()
        self.person.await_texts("one", "three", "four")
        self.person.await_saved()
        self.person.end_undo()
        self.chrome.until(lambda: self.saved() == [("one", False), ("three", False), ("four", False)], "what was clicked")

    def test_a_row_that_goes_stays_a_moment_and_is_struck_through(self):
        self.fill("one", "two", "three")
        shown = self.chrome.execute_async_script("""
            const [done] = arguments, list = document.getElementById("rows"), begin = performance.now();
            const [one, two] = list.children;
            one.querySelector(".check").click();
            two.querySelector(".remove").click();
            const look = () => [...list.children].map((row) => getComputedStyle(row.querySelector(".text")).textDecorationLine);
            const first = look();
            new MutationObserver(() => list.children.length === 1 && done([first, performance.now() - begin]))
              .observe(list, { childList: true });""")
        self.assertEqual(shown[0], ["line-through", "line-through", "none"])
        self.assertGreaterEqual(shown[1], 590)

    def test_what_is_taken_back_at_once_can_be_clicked_at_once(self):
        self.fill("one", "two")
        for control in [".check", ".remove"]:
            self.chrome.execute_script("""
                const row = document.querySelector("#rows > li");
                row.querySelector(arguments[0]).click();
                document.getElementById("undo").click();""", control)
            self.assertEqual(self.chrome.execute_script(
                "return [...document.querySelectorAll('.row:is(.held, .deleted, .done)')].map((it) => it.className)"), [], control)
        self.person.complete("one")
        self.person.await_texts("two", "one")


@in_both_browsers
class StepsBack(Daily):
    def keys(self, *keys):
        ActionChains(self.chrome, 0).key_down(Keys.CONTROL).send_keys(*keys).key_up(Keys.CONTROL).perform()

    def redo(self, *keys):
        ActionChains(self.chrome, 0).key_down(Keys.CONTROL).key_down(Keys.SHIFT).send_keys("z").key_up(
            Keys.SHIFT).key_up(Keys.CONTROL).perform()

    def test_a_double_click_takes_back_one_step(self):
        self.fill("one", "two", "three")
        for text in ["one", "two"]:
            self.person.remove(text)
        self.assertEqual(self.chrome.words("#toast-text"), "Deleted: two")  # what one click brings back
        self.click_twice(self.chrome.one("#undo"))
        self.person.await_texts("two", "three")
        self.person.undo()
        self.person.await_texts("one", "two", "three")

    def test_an_addition_is_a_step_too(self):
        self.fill("old")
        self.person.complete("old")
        self.person.add("by mistake")
        self.keys("z")
        self.person.await_texts("old")
        self.assertEqual(self.person.done(), ["old"])
        self.keys("z")
        self.chrome.until(lambda: self.person.done() == [], "the older step to be taken back")
        self.redo()
        self.chrome.until(lambda: self.person.done() == ["old"], "that again")
        self.keys("y")
        self.person.await_texts("by mistake", "old")
        self.person.await_saved()
        self.assertEqual(sorted(self.saved()), [("by mistake", False), ("old", True)])

    def test_every_step_can_be_made_again_also_after_it_was_sent(self):
        self.fill("one", "two", "three")
        self.person.plan("two", due="12312030", notes="Two towels")
        self.person.row("two").find_element("css selector", ".check").send_keys(Keys.ALT + Keys.ARROW_UP)
        self.person.complete("three")
        self.person.remove("one")
        self.person.await_texts("two", "three")
        self.chrome.execute_script("dispatchEvent(new Event('pagehide'))")  # the deletion is sent at once
        self.person.look_again()
        self.chrome.until(lambda: len(self.on_server()) == 2, "the deletion")
        for _ in range(4):
            self.keys("z")
        self.person.await_texts("one", "two", "three")
        self.person.await_saved()
        self.assertFalse([task for task in self.on_server() if "due" in task or "notes" in task])
        for _ in range(4):
            self.redo()
        self.person.await_texts("two", "three")
        self.assertEqual(self.person.done(), ["three"])
        self.assertEqual(self.chrome.words(".notes"), "Two towels")
        self.keys("z")
        self.person.await_texts("two", "one", "three")
        self.person.complete("one")  # a new step: what was taken back is forgotten
        self.redo()
        self.person.await_texts("two", "one", "three")
        self.assertEqual(self.person.done(), ["one", "three"])

    def test_a_field_keeps_its_own_steps(self):
        self.fill("one")
        self.person.complete("one")
        self.chrome.one("#new").send_keys("half")
        self.keys("z")
        self.keys("y")
        time.sleep(0.3)  # nothing happens
        self.assertEqual(self.person.done(), ["one"])


# What the key at the place of Z, E and N writes in each layout.
LAYOUTS = {"Caps Lock": "ZEN", "Russian": "яут", "Greek": "ζεν", "Hebrew": "זקמ", "Arabic": "ئثى"}
PRESS = """
    const [key, code, more] = arguments;
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true, ...more }));"""


class Layouts(Daily):
    def press(self, key, code, **more):
        self.chrome.execute_script(PRESS, key, code, more)

    def become_a_mac(self):
        script = "Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' });"
        self.chrome.before_each_page(script)

    def test_shortcuts_are_at_their_places_in_every_layout(self):
        self.fill("one", "two")
        for layout, (z, e, n) in LAYOUTS.items():
            self.person.complete("one")
            self.person.await_texts("two", "one")
            self.press(z, "KeyZ", ctrlKey=True)
            self.person.await_texts("one", "two")
            self.assertEqual(self.person.done(), [], layout)
            self.press(z, "KeyZ", ctrlKey=True, shiftKey=True)
            self.person.await_texts("two", "one")
            self.press(z, "KeyZ", ctrlKey=True)
            self.person.await_texts("one", "two")
            self.chrome.execute_script("document.querySelector('#rows .check').focus()")
            self.press(e, "KeyE")
            self.assertEqual(len(self.chrome.all(".editor")), 1, layout)
            self.chrome.one(".editor .cancel").click()
            self.press(n, "KeyN")
            self.assertEqual(self.chrome.focused(), "New task", layout)

    def test_on_a_german_keyboard_the_letter_counts_and_not_its_place(self):
        self.fill("one", "two")
        self.person.complete("one")
        self.press("z", "KeyY", ctrlKey=True)
        self.chrome.until(lambda: self.person.done() == [], "the step to be taken back")
        self.press("y", "KeyZ", ctrlKey=True)
        self.chrome.until(lambda: self.person.done() == ["one"], "the step to be made again")

    def test_on_a_mac_hints_name_its_keys_and_backspace_deletes(self):
        self.become_a_mac()
        self.fill("one", "two")
        self.chrome.execute_script("document.querySelector('#rows .check').focus()")
        self.press("Backspace", "Backspace")
        self.person.await_texts("two")
        self.assertEqual(self.chrome.one("#undo kbd").get_attribute("textContent"), "⌘ Z")
        self.assertIn("Command Z", self.chrome.one("#announcer").get_attribute("textContent"))
        keys = self.chrome.execute_script("return document.getElementById('shortcuts').textContent")
        for key, is_there in [("⌘", True), ("⌥", True), ("⌫", True), ("Ctrl", False), ("Alt", False)]:
            self.assertEqual(key in keys, is_there, key)

    def test_elsewhere_backspace_deletes_nothing(self):
        self.fill("one", "two")
        self.chrome.execute_script("document.querySelector('#rows .check').focus()")
        self.press("Backspace", "Backspace")
        self.assertEqual(self.chrome.all(".held"), [])
        self.assertEqual(self.chrome.one("#undo kbd").get_attribute("textContent"), "Ctrl Z")


class LayoutsInFirefox(Layouts):
    browser_type = Firefox

    def become_a_mac(self):
        self.chrome.in_browser("Services.prefs.setStringPref('general.platform.override', 'MacIntel')")
        self.addCleanup(self.chrome.in_browser, "Services.prefs.clearUserPref('general.platform.override')")


@in_both_browsers
class Notices(Daily):
    def boxes(self):
        """Where the field, its dates and its button are, and how large."""
        return self.chrome.execute_script("""
            return ["add", "new", "new-due", "new-day"].map((id) => document.getElementById(id))
              .concat(document.querySelector("#add .primary"))
              .map((it) => it.getBoundingClientRect()).map(({ x, y, width, height }) => [x, y, width, height]);""")

    def test_no_notice_moves_the_field_or_its_parts(self):
        self.fill("one")
        self.chrome.one("#new").send_keys("Call Ann")
        before = self.boxes()
        self.assertGreater(before[2][2], 100, "the dates are shown")
        self.chrome.execute_script(
            fetching('return url === "/api/tasks" ? problem(503, "store.overloaded") : real(url, options);'))
        self.person.look_again()
        self.chrome.until(lambda: "Title store.overloaded" in self.chrome.one("#trouble").text, "the notice")
        self.chrome.execute_script("for (const id of ['ended', 'refused']) document.getElementById(id).hidden = false;")
        self.assertTrue(self.chrome.one("#again").is_displayed())
        status = self.chrome.execute_script("return document.getElementById('status').getBoundingClientRect().width")
        after = self.boxes()
        # A longer status takes its room from the text alone.
        self.assertEqual([box[3] for box in after], [box[3] for box in before])
        self.assertEqual([box[1] for box in after], [box[1] for box in before])
        self.assertEqual(after[-1], before[-1])
        self.assertLess(status, 220)


@in_both_browsers
class Patience(Daily):
    """A server that says when it wants to be asked again."""

    def refuse(self, after):
        self.chrome.execute_script("Object.assign(window, { asked: [], isRefusing: true, after: arguments[0] });" + fetching("""
            if (!url.startsWith("/api/tasks") || !isRefusing) return real(url, options);
            asked.push(`${options.method} ${url}`);
            return problem(429, "request.rate", { "Retry-After": after });"""), after)

    def test_no_request_comes_before_the_time_that_the_server_has_named(self):
        self.expected = ["429"]
        self.person.save("one")
        self.refuse("7200")
        self.person.look_again()
        self.chrome.until(lambda: "Detail request.rate." in self.chrome.one("#trouble").text, "the refusal")
        self.assertRegex(self.chrome.one("#trouble").text, r"The page tries again at \d+:\d\d.[AP]M\.")
        self.person.add("two")
        self.person.complete("one")
        self.person.await_status("Not saved, 2 changes kept")
        self.person.look_again()
        self.person.remove("two")
        self.chrome.execute_script("dispatchEvent(new Event('online')); dispatchEvent(new Event('pagehide'))")
        time.sleep(2)  # nothing is asked
        self.assertEqual(len(self.chrome.execute_script("return asked")), 1)
        self.chrome.refresh()
        self.chrome.until(lambda: "tries again at" in self.chrome.one("#trouble").text, "the same after a reload")
        time.sleep(1)  # nothing is asked
        asked = self.chrome.execute_script(
            "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/tasks')).length")
        self.assertEqual(asked, 0)

    def test_the_page_asks_again_when_the_time_has_come(self):
        self.refuse("3")
        self.person.add("one")
        begin = time.monotonic()
        self.chrome.until(lambda: "tries again at" in self.chrome.one("#trouble").text, "the notice")
        self.chrome.execute_script("window.isRefusing = false")
        self.person.await_saved()
        self.assertGreater(time.monotonic() - begin, 1.5)
        self.assertEqual(self.chrome.one("#trouble").text, "")
        self.assertEqual(self.saved(), [("one", False)])


class Adding(Daily):
    def places(self):
        return self.chrome.execute_script("""
            return [scrollY, document.getElementById("toast-text").textContent, document.getElementById("show").hidden];""")

    def test_a_new_task_stands_first_and_the_order_by_hand_stays(self):
        self.fill("one", "two", "three")
        self.person.row("three").find_element("css selector", ".check").send_keys(Keys.ALT + Keys.ARROW_UP)
        self.person.save("new")
        self.person.save("newer")
        self.assertEqual(self.places(), [0, "Added: newer", True])
        self.person.await_texts("newer", "new", "one", "three", "two")
        self.person.refresh()
        self.person.await_texts("newer", "new", "one", "three", "two")

    def test_adding_leaves_the_person_where_they_are(self):
        self.fill(*[f"Paint board {number}" for number in range(40)])
        middle = "return Math.round(document.querySelectorAll('#rows > li')[arguments[0]].getBoundingClientRect().top)"
        self.chrome.execute_script("scrollTo(0, 900)")
        before = self.chrome.execute_script(middle, 25)
        self.chrome.execute_script("document.getElementById('new').focus({ preventScroll: true })")
        self.chrome.key("Written in the middle")  # a driver that types into an element scrolls
        self.chrome.key(Keys.ENTER)
        self.assertGreater(self.places()[0], 800)
        self.chrome.until(lambda: self.places()[1:] == ["Added: Written in the middle", False], "the offer to show it")
        self.assertLess(abs(self.chrome.execute_script(middle, 26) - before), 60)
        self.chrome.one("#show").click()
        self.chrome.until(lambda: self.chrome.focused() == "Written in the middle", "the new task")
        self.assertLess(self.places()[0], 300)

    def test_what_a_view_or_a_search_hides_is_offered(self):
        self.fill("one", {"task": "two", "completed": True})
        self.person.filter("done")
        self.person.add("three")
        self.person.await_texts("two")
        self.chrome.one("#show").click()
        self.person.await_texts("three", "one", "two")
        self.chrome.one("#search-open").click()
        self.chrome.one("#query").send_keys("one")
        self.person.add("four")
        self.person.await_texts("one")
        self.chrome.one("#show").click()
        self.person.await_texts("four", "three", "one", "two")

    def test_a_date_leaves_the_button_in_the_window_of_a_phone(self):
        self.fill("one")
        self.chrome.one("#new").send_keys("Call Ann")
        for width in [390, 360, 320]:
            self.chrome.size(width, 740)
            self.chrome.one("#new-due [value=tomorrow]").click()
            self.assertEqual(self.chrome.execute_script("""
                const edge = document.getElementById("add").getBoundingClientRect().right;
                return [...document.querySelectorAll("#add > button, #new-due > *")]
                  .filter((it) => it.getBoundingClientRect().right > edge).map((it) => it.textContent);"""), [], width)
            self.chrome.one("#new-due [value=tomorrow]").click()

    def test_no_row_is_covered_by_the_dates_of_a_new_task(self):
        self.fill(*[f"Paint board {number}" for number in range(40)])
        self.chrome.execute_script("scrollTo(0, 900)")
        self.chrome.one("#new").send_keys("Call Ann")
        below, inside = self.chrome.execute_script("""
            const box = (id) => document.getElementById(id).getBoundingClientRect();
            return [box("new-due").bottom - box("add").bottom, box("new-due").width];""")
        self.assertLessEqual(below, 0)
        self.assertGreater(inside, 100)


class Leaving(Daily):
    def test_the_keyboard_leaves_the_field(self):
        self.fill("one", "two")
        field = self.chrome.one("#new")
        field.send_keys("half", Keys.ESCAPE)
        self.assertEqual(self.chrome.execute_script("return document.activeElement.id"), "")
        self.assertEqual(field.get_attribute("value"), "half")
        self.chrome.key("j")
        self.assertEqual(self.chrome.focused(), "one")
        field.send_keys(Keys.ARROW_DOWN)
        self.assertEqual(self.chrome.focused(), "one")
        field.clear()
        self.chrome.execute_script("document.getElementById('new').focus()")
        for _ in range(3):
            if self.chrome.focused() == "one":
                break
            self.chrome.switch_to.active_element.send_keys(Keys.TAB)
        self.assertEqual(self.chrome.focused(), "one")


class Focus(Daily):
    def test_the_keyboard_goes_back_to_rows_that_the_strip_does_not_cover(self):
        self.fill(*[f"Paint board {number}" for number in range(40)])
        self.chrome.execute_script("[...document.querySelectorAll('#rows .check')].at(-1).focus()")
        for _ in range(30):
            self.chrome.key("k")
        covered = self.chrome.execute_script("""
            const box = document.activeElement.getBoundingClientRect();
            return document.elementFromPoint(box.left + box.width / 2, box.top + 2) !== document.activeElement;""")
        self.assertFalse(covered)
        self.assertGreater(self.chrome.execute_script("return scrollY"), 200)
