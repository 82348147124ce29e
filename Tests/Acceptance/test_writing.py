"""What people write: it stays while they write it, is shown whole where they ask for it, and can be found again."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from person import NewcomerTest, PageTest, in_both_browsers

LONG = " ".join(f"word{number}" for number in range(120))
LINES = "\n".join(["Pack for Lisbon", *(f"- thing {number}" for number in range(11))])


class Writing(NewcomerTest):
    def field(self):
        return self.chrome.one(".editor textarea")

    # Drafts

    def test_an_open_editor_that_cannot_be_saved_stays_when_the_filter_changes(self):
        person = self.person
        person.add("one", "two", "three")
        person.complete("three")
        person.await_saved()
        person.press("two", ".edit")
        self.field().send_keys(Keys.CONTROL + "a", Keys.DELETE)
        for name in ["done", "today", "all", "done"]:
            person.filter(name)
            self.assertEqual(self.chrome.words(".editor .field-error"), "Write a few words first.")
        person.await_texts("three")
        self.field().send_keys("two and a half", Keys.ENTER)
        person.await_texts("three")
        person.filter("all")
        person.await_texts("one", "two and a half", "three")

    def test_an_editor_outlives_the_deletion_of_its_task_elsewhere(self):
        self.expected = ["404"]
        person = self.person
        person.save("one", "two")
        person.press("two", ".edit")
        self.field().send_keys(Keys.END, " and a half")
        other = self.second_device()
        other.remove("two")
        other.refresh()
        person.look_again()
        person.await_saved()
        self.chrome.until(lambda: self.chrome.words("#headline") == "1 thing to do", "the other list")
        self.assertEqual(self.field().get_attribute("value"), "two and a half")
        self.field().send_keys(Keys.ENTER)
        self.chrome.until(lambda: self.chrome.one("[data-decision=again]"), "the question").click()
        person.await_saved()
        person.await_texts("one", "two and a half")

    def test_what_is_half_written_outlives_a_reload(self):
        person = self.person
        person.save("one", "two")
        self.chrome.one("#new").send_keys("half a task")
        person.press("two", ".edit")
        self.field().send_keys(Keys.END, " and a half")
        self.chrome.one(".editor [name=due]").send_keys("12312030")
        self.chrome.one(".editor [name=notes]").send_keys("Two towels")
        person.refresh()
        self.assertEqual(self.chrome.one(".editor [name=due]").get_attribute("value"), "2030-12-31")
        self.assertEqual(self.chrome.one(".editor [name=notes]").get_attribute("value"), "Two towels")
        self.assertEqual(self.chrome.one("#new").get_attribute("value"), "half a task")
        self.assertEqual(self.field().get_attribute("value"), "two and a half")
        self.field().send_keys(" more", Keys.ENTER)
        person.await_texts("one", "two and a half more")
        self.chrome.one("#new").send_keys(Keys.ENTER)
        person.await_texts("half a task", "one", "two and a half more")
        person.await_saved()
        person.refresh()
        self.assertEqual(self.chrome.one("#new").get_attribute("value"), "")
        self.assertEqual(self.chrome.all(".editor"), [])
        person.sign_out()
        self.assertNotIn("half", self.chrome.execute_script("return JSON.stringify({...sessionStorage})"))

    # The list

    def test_an_open_task_is_in_sight_with_its_buttons(self):
        self.chrome.size(360, 740)
        self.person.add(*[f"task {number}" for number in range(8)])
        self.person.complete("task 0")  # the offer to undo has the end of the window, until the task is open
        self.chrome.execute_script("scrollTo(0, 0)")
        self.chrome.execute_script("""
            const isInSight = (row) => row.getBoundingClientRect().bottom < innerHeight;
            [...document.querySelectorAll("#rows > .row")].findLast(isInSight).querySelector(".text").click();""")
        covered = """
            const box = document.querySelector(".editor [type=submit]").getBoundingClientRect();
            return document.elementFromPoint(box.left + box.width / 2, box.bottom - 2)?.textContent !== "Save";"""
        self.chrome.until(lambda: not self.chrome.execute_script(covered), "the button to be in sight", 5)
        self.assertFalse(self.chrome.one("#toast").is_displayed())
        self.chrome.one(".editor .cancel").click()
        is_back = "const toast = document.querySelector('#toast'); return toast.hidden || toast.checkVisibility();"
        self.assertTrue(self.chrome.execute_script(is_back))  # unless its time is over

    def test_back_leads_to_the_filter_before(self):
        person = self.person
        person.add("one", "two")
        person.plan("two", due="01012020")
        person.complete("one")
        person.await_saved()
        person.filter("today")
        person.filter("done")
        person.await_texts("one")
        self.chrome.back()
        person.await_texts("two")
        self.assertTrue(self.chrome.one("#filters [value=today]").is_selected())
        self.chrome.back()
        person.await_texts("two", "one")
        self.chrome.forward()
        person.await_texts("two")
        self.chrome.one(".skip").send_keys(Keys.ENTER)
        person.await_texts("two")

    # Long and foreign texts

    def test_long_texts_are_cut_until_somebody_asks_for_more(self):
        self.person.save("short", LONG)
        self.assertEqual([more.is_displayed() for more in self.chrome.all(".more")], [False, True])
        text = self.chrome.one(".long .text")
        cut = text.size["height"]
        self.assertLess(cut, 120)
        more = self.chrome.one(".long > .more")
        self.assertEqual(self.chrome.words(".long > .more > :first-child"), "More")
        self.assertEqual(more.get_attribute("aria-expanded"), "false")
        more.click()
        self.assertGreater(text.size["height"], cut * 1.5)
        self.assertEqual(self.chrome.words(".long > .more > :first-child"), "Less")
        self.assertEqual(more.get_attribute("aria-expanded"), "true")
        more.click()
        self.assertEqual(text.size["height"], cut)
        self.person.plan(text.text, notes="Not within the text")
        above = self.chrome.one(".long .text").rect
        self.assertGreaterEqual(self.chrome.one(".long .notes").rect["y"], above["y"] + above["height"])
        self.assertLess(len(self.chrome.one(".long .edit").accessible_name), 120)

    def test_an_editor_has_several_lines_and_keeps_them(self):
        person = self.person
        person.save("Pack")
        person.press("Pack", ".edit")
        self.field().send_keys(Keys.CONTROL + "a")
        for number, line in enumerate(LINES.split("\n")):
            self.field().send_keys(*([Keys.SHIFT + Keys.ENTER + Keys.NULL] if number else []), line)
        self.assertEqual(self.field().get_attribute("value"), LINES)
        self.assertGreater(self.field().size["height"], 200)
        self.field().send_keys(Keys.ENTER)
        person.await_saved()
        person.refresh()
        self.assertEqual(self.chrome.one(".text").get_attribute("textContent"), LINES)
        person.press(self.chrome.one(".text").text, ".edit")
        self.field().send_keys(Keys.ENTER)
        self.assertEqual(self.chrome.one(".text").get_attribute("textContent"), LINES)

    def test_addresses_can_be_followed_and_nothing_else_is_markup(self):
        text = "See (https://example.com/a_b?c=1&d). <b>http://x.example/(y)</b>, javascript:alert(1)//https:// ftp://z"
        self.person.add(text)
        self.person.plan(text, notes="https://example.org/notes.")
        links = self.chrome.execute_script("""
            return [...document.querySelectorAll(".row a")].map((link) => [link.href, link.textContent, link.rel]);""")
        self.assertEqual(links, [[address, address, "noopener noreferrer"] for address in [
            "https://example.com/a_b?c=1&d", "http://x.example/(y)", "https://example.org/notes"]])
        self.assertEqual(self.chrome.one(".row .text").text, text)
        self.chrome.execute_script("addEventListener('click', (event) => event.preventDefault())")
        self.chrome.one(".row .text a").click()
        self.assertEqual(self.chrome.all(".editor, .row b"), [])

    def test_texts_are_written_in_the_direction_of_their_script(self):
        self.person.save("Buy milk", "לקנות חלב")
        directions = "return [...document.querySelectorAll('.text')].map((text) => getComputedStyle(text).direction)"
        self.assertEqual(self.chrome.execute_script(directions), ["ltr", "rtl"])
        self.person.plan("לקנות חלב", notes="חלב")
        right = "const words = document.createRange(); words.selectNodeContents(document.querySelector(arguments[0]));" \
            "return words.getBoundingClientRect().right - document.querySelector('#rows').getBoundingClientRect().right"
        self.assertGreater(self.chrome.execute_script(right, ".row:last-child .notes"), -30)
        self.person.press("לקנות חלב", ".edit")
        self.assertEqual(self.field().value_of_css_property("direction"), "rtl")
        self.chrome.one("#new").send_keys("חלב")
        self.assertEqual(self.chrome.one("#new").value_of_css_property("direction"), "rtl")

    # The look

    def test_progress_can_be_seen_in_forced_colours(self):
        self.person.add("one", "two")
        self.person.complete("one")
        self.person.await_saved()
        self.chrome.prefer(forced="active", motion="reduce")
        picture = self.chrome.one("#progress").screenshot_as_base64
        self.chrome.get("about:blank")
        done, rest = self.chrome.execute_async_script("""
            const [picture, finish] = arguments;
            const image = new Image();
            image.onload = () => {
              const canvas = document.createElement("canvas");
              [canvas.width, canvas.height] = [image.width, image.height];
              const context = canvas.getContext("2d", { willReadFrequently: true });
              context.drawImage(image, 0, 0);
              const at = (share) => [...context.getImageData(image.width * share, image.height / 2, 1, 1).data].join();
              finish([at(0.25), at(0.75)]);
            };
            image.src = `data:image/png;base64,${picture}`;""", picture)
        self.assertNotEqual(done, rest)

    def test_paper_shows_the_tasks_whole_and_nothing_to_press(self):
        self.person.add("short", LONG)
        self.person.plan("short", due="12312030", notes="Two towels")
        self.person.await_saved()
        cut = self.chrome.one(".long .text").size["height"]
        self.chrome.prefer("dark", media="print")
        lefts = [self.chrome.one(f".row:first-child {part}").rect["x"] for part in [".text", ".due", ".notes"]]
        self.assertEqual(len(set(lefts)), 1)
        self.assertLess(self.chrome.one("#rows .check").rect["x"], lefts[0])
        self.assertGreater(self.chrome.one(".long .text").size["height"], cut * 1.5)
        self.assertTrue(self.chrome.one("#headline").is_displayed())
        pressable = [element.get_attribute("outerHTML")[:80]
                     for element in self.chrome.all("button, input:not(.check), textarea, fieldset, footer a")
                     if element.is_displayed()]
        self.assertEqual(pressable, [])
        self.assertEqual(self.chrome.one("body").value_of_css_property("background-color"), "rgba(255, 255, 255, 1)")

    def test_dates_are_in_the_language_of_the_page(self):
        self.chrome.execute_cdp_cmd("Emulation.setLocaleOverride", {"locale": "de-DE"})
        self.person.refresh()
        month = "return new Date(0).toLocaleDateString(undefined, { month: 'long' })"
        self.assertEqual(self.chrome.execute_script(month), "Januar")
        self.assertRegex(self.chrome.words("#day"), r"(?i)day, ")
        wanted = self.chrome.execute_script(
            "return new Date().toLocaleDateString('en-US', { weekday: 'long', day: 'numeric', month: 'long' })")
        self.assertEqual(self.chrome.one("#day").get_attribute("textContent"), wanted)


# Pastes a text where the cursor is; true if the page leaves it to the browser, which makes one line of it.
PASTE = """
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", arguments[0]);
    return document.activeElement.dispatchEvent(new ClipboardEvent("paste", {
      clipboardData, data: arguments[0], dataType: "text/plain", bubbles: true, cancelable: true })); // Firefox takes the latter"""


@in_both_browsers
class Pasting(PageTest):
    def paste(self, text):
        return self.chrome.execute_script(PASTE, text)

    def test_several_lines_become_several_tasks_with_one_undo(self):
        self.newcomer()
        self.person.save("one")
        self.chrome.one("#new").send_keys("Pack:")
        self.assertFalse(self.paste(" towels \r\n\n- shoes\n* [ ] a map\n  hats"))
        lines = ["Pack: towels", "shoes", "a map", "hats"]
        self.person.await_texts(*lines, "one")
        self.assertEqual(self.chrome.one("#new").get_attribute("value"), "")
        self.assertEqual(self.chrome.words("#toast-text"), "4 added")
        self.person.await_saved()
        self.assertEqual([text for text, _ in self.saved()], [*lines, "one"])
        self.person.undo()
        self.person.await_texts("one")
        self.chrome.one("#new").send_keys(Keys.CONTROL + Keys.SHIFT + "z")
        self.person.await_texts(*lines, "one")
        self.person.undo()
        self.person.await_texts("one")
        self.person.end_undo()
        self.chrome.until(lambda: self.saved() == [("one", False)], "the tasks to be deleted")
        self.person.await_saved()

    def test_one_line_and_lines_that_are_too_long_are_left_to_the_browser(self):
        self.newcomer()
        self.chrome.one("#new").click()
        for text in ["milk", "milk\n\n", "milk\n" + "ü" * 2049]:
            self.assertTrue(self.paste(text))
        self.assertEqual(self.person.texts(), [])


@in_both_browsers
class Drafts(NewcomerTest):
    """What is half written in a task when its tab is closed."""

    def field(self, name="text"):
        return self.chrome.one(f".editor [name={name}]")

    def close_and_open(self):
        """Closes the tab, and opens the page in another one."""
        old = self.chrome.current_window_handle
        self.chrome.switch_to.new_window("tab")
        new = self.chrome.current_window_handle
        self.go_to(old)
        self.chrome.close()
        self.go_to(new)
        self.person.open()
        self.person.await_list()

    def await_drafts(self, *texts):
        rows = "return [...document.querySelectorAll('.row')].filter((row) => row.querySelector('.row-state').textContent === 'Draft')" \
            ".map((row) => row.querySelector('.text').textContent)"
        self.chrome.until(lambda: self.chrome.execute_script(rows) == list(texts), f"the drafts {texts}")

    def test_it_is_there_in_the_next_tab(self):
        self.person.save("one", "two", "three")
        for text, more in [("two", " and a half"), ("three", ", perhaps")]:
            self.person.press(text, ".edit")
            self.field().send_keys(more)
            self.field("notes").send_keys("Towels")
            self.chrome.until(lambda: "Towels" in str(self.person.waiting()), "the draft to be kept")
            self.close_and_open()
            self.await_drafts(text)
            self.assertEqual(self.chrome.all(".editor"), [])
            self.assertEqual(self.person.status(), "Saved")
            self.person.press(text, ".edit")
            self.assertEqual(self.field().get_attribute("value"), text + more)
            self.assertEqual(self.field("notes").get_attribute("value"), "Towels")
            self.field().send_keys(Keys.ENTER)
            self.await_drafts()
            self.person.await_saved()
            self.chrome.until(lambda: not self.person.waiting(), "the end of the draft")
        self.assertEqual([text for text, _ in self.saved()], ["one", "two and a half", "three, perhaps"])
        self.person.refresh()
        self.await_drafts()

    def test_a_task_that_gets_its_id_meanwhile_keeps_it(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED"]
        self.chrome.connect(False)
        self.person.add("one")
        self.person.press("one", ".edit")
        self.field().send_keys(" and a half")
        self.chrome.until(lambda: len(self.person.waiting()) == 2, "the draft to be kept")
        self.person.go_online()
        self.close_and_open()
        self.await_drafts("one")
        self.assertEqual(self.saved(), [("one", False)])
        self.person.press("one", ".edit")
        self.field().send_keys(Keys.ESCAPE)
        self.await_drafts()
        self.person.undo()
        self.assertEqual(self.field().get_attribute("value"), "one and a half")

    def test_signing_out_leaves_none_behind(self):
        self.person.save("one")
        self.person.press("one", ".edit")
        self.field().send_keys(" and a half")
        self.chrome.until(lambda: self.person.waiting(), "the draft to be kept")
        self.close_and_open()
        self.await_drafts("one")
        self.person.sign_out()
        self.assertEqual(self.person.waiting(), [])


@in_both_browsers
class Leaving(NewcomerTest):
    """Who leaves an open task has saved it."""

    def setUp(self):
        super().setUp()
        self.person.save("one", "two", "three")

    def write(self, text, more):
        self.person.press(text, ".edit")
        self.chrome.one(".editor [name=text]").send_keys(more)

    def await_closed(self, *texts):
        self.person.await_texts(*texts)
        self.assertEqual(self.chrome.all(".editor"), [])

    def test_a_press_elsewhere_saves_and_does_what_it_is_for(self):
        self.write("two", " and a half")
        self.chrome.one("#headline").click()
        self.await_closed("one", "two and a half", "three")
        self.assertEqual(self.chrome.words("#toast-text"), "Changed: two")
        self.write("one", " more")
        self.person.complete("three")
        self.await_closed("one more", "two and a half", "three")
        self.assertEqual(self.person.done(), ["three"])
        self.write("one more", " time")
        self.person.press("two and a half", ".text")
        self.person.await_texts("one more time", "three")
        self.assertEqual(len(self.chrome.all(".editor")), 1)
        self.person.await_saved()
        self.chrome.key(Keys.ESCAPE)
        self.chrome.until(
            lambda: self.saved() == [("one more time", False), ("two and a half", False), ("three", True)], "the changes")

    def test_the_keyboard_leaves_and_keeps_the_focus_where_it_goes(self):
        self.write("two", " and a half")
        for _ in range(20):
            if not self.chrome.all(".editor"):
                break
            self.chrome.key(Keys.TAB)
        self.await_closed("one", "two and a half", "three")
        self.assertEqual(self.chrome.focused(), "three")

    def test_escape_reverts_and_undo_leads_back(self):
        self.write("two", " and a half")
        self.chrome.key(Keys.ESCAPE)
        self.await_closed("one", "two", "three")
        self.person.undo()
        self.assertEqual(self.chrome.one(".editor [name=text]").get_attribute("value"), "two and a half")
        self.chrome.one("#headline").click()
        self.await_closed("one", "two and a half", "three")

    def test_a_press_within_and_a_text_selected_beyond_its_field_leave_nothing(self):
        self.write("two", " and a half")
        actions = ActionChains(self.chrome)
        actions.click_and_hold(self.chrome.one(".editor [name=text]"))
        actions.move_to_element(self.chrome.one("#headline")).release().perform()
        ActionChains(self.chrome).move_to_element_with_offset(self.chrome.one(".editing"), 0, 0).click().perform()
        self.assertEqual(self.chrome.one(".editor [name=text]").get_attribute("value"), "two and a half")

    def test_the_notes_have_a_field_that_one_sees(self):
        self.person.press("two", ".edit")
        notes = self.chrome.one(".editor [name=notes]")
        colour, height = self.chrome.execute_script(
            "return [getComputedStyle(arguments[0]).borderTopColor, arguments[0].offsetHeight]", notes)
        self.assertNotIn(colour, ["transparent", "rgba(0, 0, 0, 0)"])
        self.assertGreater(height, 50)
