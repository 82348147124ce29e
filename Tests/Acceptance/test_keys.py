"""Keys do what one sees: the focus stays near what was changed, and keys act on what is selected."""

from selenium.webdriver.common.keys import Keys

from person import PASSWORD, NewcomerTest, in_both_browsers


class KeyTest(NewcomerTest):
    def focus(self, text, control):
        self.person.await_let_go()
        self.chrome.execute_script("arguments[0].querySelector(arguments[1]).focus({ focusVisible: true })", self.person.row(text), control)

    def select(self, *texts):
        self.focus(texts[0], ".check")
        for text in texts:
            self.chrome.await_focus(text)
            self.chrome.key("x")
            self.chrome.key("j")
        self.chrome.until(lambda: self.chrome.one("#selected").text == f"{len(texts)} selected", "the selection")


@in_both_browsers
class Focus(KeyTest):
    def test_a_row_that_leaves_never_gives_the_focus_to_a_button_that_deletes(self):
        self.person.save("one", "two", "three")
        for text in ["one", "two", "three"]:
            self.person.press(text, ".when")
            self.chrome.one("#day-menu [value=today]").click()
        self.person.filter("today")
        self.focus("one", ".edit")
        self.chrome.key("e")
        self.chrome.one(".editor .days [value=tomorrow]").click()
        self.chrome.one(".editor [type=submit]").send_keys(Keys.ENTER)
        self.person.await_texts("two", "three")
        self.chrome.await_focus("Edit two")
        self.chrome.key(Keys.ESCAPE)
        self.focus("two", ".remove")
        self.chrome.key(Keys.ENTER)
        self.person.await_texts("three")
        self.chrome.await_focus("three")
        self.chrome.key(Keys.ENTER)
        self.person.await_saved()
        self.person.await_texts("three")

    def test_after_a_tick_the_keys_go_on_with_the_next_open_task(self):
        self.person.save("one", "two", "three")
        self.focus("one", ".check")
        self.chrome.key(Keys.SPACE)
        self.chrome.await_focus("two")
        self.assertEqual(self.person.done(), ["one"])
        self.chrome.key("j")
        self.chrome.await_focus("three")
        self.chrome.key(Keys.SPACE)
        self.chrome.await_focus("two")


@in_both_browsers
class Selection(KeyTest):
    def test_keys_act_on_all_that_is_selected(self):
        self.person.save("one", "two", "three", "four", "five", "six")
        self.select("one", "two")
        self.chrome.key(Keys.DELETE)
        self.person.await_texts("three", "four", "five", "six")
        self.select("three", "four")
        self.focus("six", ".check")
        self.chrome.key(Keys.SPACE)
        self.chrome.until(lambda: sorted(self.person.done()) == ["four", "three"], "what is selected to be done")
        self.select("five", "six")
        self.chrome.key("d")
        self.chrome.await_focus("Today")
        self.chrome.key(Keys.ENTER)
        self.person.await_saved()
        self.assertEqual([bool(task.get("due")) for task in self.on_server() if task["task"] in ("five", "six")], [True, True])
        self.select("five", "six")
        self.chrome.key("e")
        self.chrome.await_focus("New text for five")

    def test_tab_goes_to_the_bar_and_back(self):
        self.person.save("one", "two")
        self.select("one")
        self.chrome.await_focus("two")
        self.chrome.key(Keys.TAB)
        self.chrome.await_focus("Finish")
        self.chrome.key(Keys.TAB, backwards=True)
        self.chrome.await_focus("two")
        self.chrome.key(Keys.TAB)
        self.chrome.key(Keys.ENTER)
        self.chrome.until(lambda: self.person.done() == ["one"], "one to be done")


@in_both_browsers
class Errors(KeyTest):
    def write(self, text):
        self.chrome.execute_script("""
            const field = document.getElementById("new");
            field.value = arguments[0];
            field.dispatchEvent(new InputEvent("input", { bubbles: true }));""", text)

    def test_what_is_wrong_is_said_in_characters_and_leaves_with_the_fault(self):
        error = lambda: self.chrome.one("#new-error").text
        self.chrome.one("#new").send_keys("   ", Keys.ENTER)
        self.assertEqual(error(), "Write a few words first.")
        self.chrome.one("#new").send_keys("a")
        self.assertEqual(error(), "")
        for text, message in [("ü" * 2049, "This is 1 character too long."), ("🙂" * 1030, "This is 6 characters too long.")]:
            self.write(text)
            self.assertEqual(error(), "")
            self.chrome.one("#new").send_keys(Keys.ENTER)
            self.assertEqual(error(), message)
            self.assertEqual(self.chrome.one("#new").get_attribute("value"), text)
            self.write("a")
        self.write("🙂" * 1024)
        self.assertEqual(error(), "")
        self.assertEqual(self.chrome.one("#new").get_attribute("aria-invalid"), "false")
        self.assertEqual(self.person.texts(), [])


class ViewsAndPaper(KeyTest):
    def test_paper_shows_no_focus(self):
        self.person.save("one")
        self.focus("one", ".check")
        ring = lambda: self.chrome.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
        self.assertNotEqual(ring(), "none")
        self.chrome.prefer(media="print")
        self.assertEqual(ring(), "none")

    def test_the_view_of_the_address_is_open_after_the_sign_in(self):
        self.person.save("one")
        self.person.sign_out()
        self.person.open("/#upcoming")
        self.chrome.refresh()  # another fragment alone loads nothing
        self.person.choose("b2c_1_sign_in")
        self.person.fill_at_once(signInName=self.address, password=PASSWORD)
        self.person.await_list()
        self.assertTrue(self.chrome.one("#filters [value=upcoming]").is_selected())
