"""A day with the list: clicks, steps back, keys and notices do what a hand expects, in both browsers."""

import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from firefox import Firefox
from person import PageTest


class Daily(PageTest):
    def setUp(self):
        super().setUp()
        self.newcomer()

    def fill(self, *tasks):
        """Adds tasks elsewhere, in this order, as texts or as JSON, and shows them."""
        for task in tasks:
            self.request("POST", "/api/tasks", {"task": task} if isinstance(task, str) else task)
        self.person.refresh()
        self.chrome.until(lambda: len(self.chrome.all(".rows > li")) >= len(tasks), "the tasks")

    def focused(self):
        return self.chrome.switch_to.active_element.accessible_name


class Clicks(Daily):
    def twice(self, text, control):
        """Clicks twice on the same place, 250 ms apart, which is where a slow hand hits the next row."""
        element = self.person.row(text).find_element("css selector", control)
        ActionChains(self.chrome, 0).move_to_element(element).click().pause(0.25).click().perform()

    def await_let_go(self):
        self.chrome.until(lambda: not self.chrome.all(".held"), "the rows to be let go")

    def test_a_second_click_finishes_and_deletes_no_other_task(self):
        self.fill("one", "two", "three", "four")
        self.twice("one", ".check")
        self.await_let_go()
        self.person.await_texts("two", "three", "four", "one")
        self.assertEqual(self.person.done(), ["one"])
        self.twice("two", ".remove")
        self.await_let_go()
        self.person.await_texts("three", "four", "one")
        self.twice("one", ".check")  # opens it again
        self.await_let_go()
        self.person.await_texts("one", "three", "four")
        self.person.await_saved()
        self.chrome.execute_script("dispatchEvent(new Event('pagehide'))")  # the time of undo is over
        self.person.look_again()
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


class ClicksInFirefox(Clicks):
    browser_type = Firefox


class StepsBack(Daily):
    def keys(self, *keys):
        ActionChains(self.chrome, 0).key_down(Keys.CONTROL).send_keys(*keys).key_up(Keys.CONTROL).perform()

    def redo(self, *keys):
        ActionChains(self.chrome, 0).key_down(Keys.CONTROL).key_down(Keys.SHIFT).send_keys("z").key_up(
            Keys.SHIFT).key_up(Keys.CONTROL).perform()

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


class StepsBackInFirefox(StepsBack):
    browser_type = Firefox
