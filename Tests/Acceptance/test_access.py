"""Everybody can use the page: by keyboard alone, with a screen reader, on a small screen, in light and dark."""

from selenium.webdriver.common.keys import Keys

import axe
from person import PASSWORD, PageTest, day

PATHS = ["/api.html", "/problems.html"]

# Gives the focus to each control of the list, and returns the names of all, and those whose ring something cuts off.
CLIPPED_RINGS = """
    const checked = [], clipped = [];
    addEventListener("focusin", (event) => event.stopImmediatePropagation(), { capture: true }); // the editor is not left
    for (const control of document.querySelectorAll(".rows :is(button, input, textarea, a)")) {
      control.focus({ focusVisible: true });
      if (document.activeElement !== control) continue;
      const name = control.ariaLabel ?? (control.textContent || control.name), style = getComputedStyle(control);
      const ring = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
      checked.push(name);
      const { left, top, right, bottom } = control.getBoundingClientRect();
      for (let around = control.parentElement; around !== document.documentElement; around = around.parentElement) {
        const { overflow, contentVisibility, overflowClipMargin } = getComputedStyle(around);
        if (overflow === "visible" && contentVisibility !== "auto") continue;
        const box = around.getBoundingClientRect(), reach = ring - (parseFloat(overflowClipMargin) || 0);
        const isWithin = left - reach >= box.left && top - reach >= box.top
          && right + reach <= box.right && bottom + reach <= box.bottom;
        if (!isWithin) clipped.push([name, around.className]);
      }
    }
    return [checked, clipped];"""


class Access(PageTest):
    def test_axe_finds_nothing_before_signing_in(self):
        self.person.open()
        self.person.await_welcome()
        axe.check_looks(self, "the way in")
        self.person.open("/?#state=forged&code=stolen")
        self.chrome.until(lambda: self.chrome.one("#welcome-error").is_displayed(), "the complaint")
        axe.check_looks(self, "a sign-in that failed")

    def test_axe_finds_nothing_at_the_list(self):
        self.expected = ["401", "404"]
        person = self.person
        self.newcomer()
        axe.check_looks(self, "an empty list")
        person.add("Buy milk", "Buy bread", "Buy cheese")
        person.complete("Buy bread")
        person.await_saved()
        axe.check_looks(self, "a list")
        person.remove("Buy cheese")
        person.press("Buy milk", ".edit")
        axe.check_looks(self, "a list with an editor and an undo")
        self.chrome.one(".cancel").click()
        self.person.open_account()
        self.chrome.one("#person summary").click()
        axe.check_looks(self, "who am I")
        self.chrome.one("#person-close").click()
        refusal = {"title": "Refused", "detail": "The text is too long.", "code": "task.too_long"}
        change = {"kind": "change", "target": 3, "text": "Mine", "base": "x"}
        self.person.keep(*(
            {**change, "key": key, "problem": problem} for key, problem in {"k": {"theirs": "Theirs"}, "l": refusal, "m": refusal}.items()))
        self.end_session()
        self.chrome.until(lambda: self.chrome.one(".problem") and self.chrome.one("#refused button").text, "the questions")
        axe.check_looks(self, "an ended session, a question and refused changes")
        self.person.open_account()
        self.chrome.one("#sign-out").click()
        self.chrome.until(lambda: self.chrome.one("#leaving").is_displayed(), "the warning")
        axe.check_looks(self, "what signing out leaves behind")

    def test_axe_finds_nothing_at_dates_notes_search_and_shortcuts(self):
        self.newcomer()
        self.fill(
            {"task": "Return the library books", "due": day(-1)},
            {"task": "Book the train", "due": day(0), "notes": "The night train,\nif there is one."},
            {"task": "Call grandmother", "due": day(2)}, {"task": "Water the tomatoes", "completed": True})
        axe.check_looks(self, "dates and notes")
        self.person.filter("today")
        axe.check_looks(self, "today, with what is overdue")
        self.person.filter("upcoming")
        axe.check_looks(self, "what comes, by days")
        self.person.filter("all")
        self.chrome.one("#by-due").click()
        self.chrome.one("#new").send_keys(Keys.ENTER)
        self.chrome.until(lambda: self.chrome.one("#new-error").text, "an error")
        axe.check_looks(self, "an error of the field")
        self.chrome.one("#new").send_keys("Call Ann tomorrow")
        self.chrome.until(lambda: self.chrome.one("#new-chip").text, "a chip")
        axe.check_looks(self, "a due date while adding, and the order by due dates")
        self.chrome.one("#new").clear()
        self.person.press("Book the train", ".edit")
        self.chrome.one(".editor [name=repeat] option:last-child").click()
        axe.check_looks(self, "an editor with a date, notes and a rule")
        self.chrome.one(".cancel").click()
        self.chrome.one("#search-open").click()
        self.chrome.one("#query").send_keys("night")
        self.person.await_texts("Book the train")
        axe.check_looks(self, "a search")
        self.chrome.one("#query").send_keys("mare")
        self.person.await_texts()
        axe.check_looks(self, "a search that finds nothing")
        # On a fast machine what the editor said still covers the button.
        self.chrome.until(lambda: self.chrome.execute_script("""
            const box = document.getElementById("shortcuts-open").getBoundingClientRect();
            return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).closest("#shortcuts-open");"""), "the button")
        self.chrome.one("#shortcuts-open").click()
        axe.check_looks(self, "the list of shortcuts")

    def test_nothing_is_cut_off_at_320_pixels(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED"]
        self.chrome.size(320, 640)
        self.newcomer("Maximiliane Featherstonehaugh-Oberschwaben")
        self.person.add("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " * 2)
        self.person.save("short")
        self.check_width("the list")
        self.person.plan("short", due="01012020", notes="Featherstonehaugh" * 9)
        self.check_width("a late task with notes")
        self.chrome.execute_script("scrollTo(0, 0)")
        self.chrome.one("#search-open").click()
        self.check_width("the search")
        self.person.row("short").find_element("css selector", ".edit").send_keys(Keys.ENTER)
        self.chrome.one(".editor [name=repeat] option:last-child").click()
        self.check_width("the editor")
        tops = "return [...document.querySelectorAll('.custom > *')].map((it) => it.getBoundingClientRect().top)"
        self.assertEqual(len(set(self.chrome.execute_script(tops))), 1, "a number and its unit in one line")
        self.chrome.one(".cancel").send_keys(Keys.ENTER)
        self.person.remove("short")
        self.check_width("undo")
        self.person.open_account()
        self.check_width("who am I")
        self.chrome.one("#person-close").click()
        self.person.end_undo()
        self.chrome.until(lambda: len(self.saved()) == 1, "the deletion to be saved")
        self.person.await_saved()
        self.chrome.connect(False)
        self.person.add(*[str(number) for number in range(12)])
        self.person.await_status("Offline, 12 changes kept")
        self.check_width("offline")
        self.person.go_online()
        for path in ["/", *PATHS]:
            self.person.open(path)
            self.chrome.until(lambda: self.chrome.all(".entry, #policies button, #rows > li"), path)
            self.check_width(path)

    def test_the_filters_are_one_row_on_a_phone_and_the_text_has_room(self):
        self.chrome.size(360, 740)
        self.newcomer()
        self.fill(*[{"task": "Pay the rent " * 6, "due": due} for due in ["1999-12-31", day()]])
        tops, last, width = self.chrome.execute_script("""
            const labels = [...document.querySelectorAll("#filters label")], box = (element) => element.getBoundingClientRect();
            const { width } = box(document.querySelector(".row .text"));
            labels.at(-1).firstChild.click();
            return [labels.map((label) => box(label).top), box(labels.at(-1)).right, width];""")
        self.assertEqual(tops, tops[:1] * 4)
        self.assertLess(last, 360)
        self.assertGreaterEqual(width, 0.6 * 360)

    def test_nothing_clips_the_focus_ring(self):
        self.newcomer()
        self.fill("Buy milk")
        other = self.second_device()
        self.person.deafen()
        other.rename("Buy milk", "Buy oat milk from the shop with the green door")
        other.await_saved()
        self.person.rename("Buy milk", "Buy soy milk")
        self.person.await_status("1 change not saved")
        self.person.add("Buy bread")
        self.person.press("Buy bread", ".edit")
        self.chrome.prefer(motion="reduce")
        for size in [(360, 740), (1280, 900), (180, 370), (640, 450)]:  # the last two are the same with a zoom of 200 %
            self.chrome.size(*size)
            checked, clipped = self.chrome.execute_script(CLIPPED_RINGS)
            self.assertLessEqual({"Keep mine", "Keep that", "Save", "Cancel"}, set(checked), size)
            self.assertEqual(clipped, [], size)

    def check_width(self, where):
        outside = self.chrome.execute_script("""
            return [...document.querySelectorAll("body *")].filter((element) => {
              const box = element.getBoundingClientRect();
              const isHidden = !box.width || getComputedStyle(element).clipPath !== "none" || element.closest(".sr, .name, pre, #filters");
              return !isHidden && (box.right > innerWidth + 0.5 || box.left < -0.5);
            }).map((element) => element.outerHTML.slice(0, 100));""")
        self.assertEqual(outside, [], where)
        self.assertEqual(self.chrome.execute_script("return document.documentElement.scrollWidth"), 320, where)

    def test_targets_are_large_enough_for_a_finger(self):
        self.chrome.size(320, 640)
        self.newcomer()
        self.person.add("Buy milk", "Buy bread")
        self.person.complete("Buy bread")
        self.person.await_saved()
        self.person.press("Buy milk", ".edit")
        small = self.chrome.execute_script("""
            return [...document.querySelectorAll("main button, .account, #filters label, .row .text, .editor input")]
              .filter((element) => element.offsetParent)
              .map((element) => [element.outerHTML.slice(0, 60), element.getBoundingClientRect()])
              .filter(([, box]) => box.width < 40 || box.height < 40)
              .map(([html, box]) => `${html} ${box.width}x${box.height}`);""")
        self.assertEqual(small, [])

    def test_motion_rests_for_those_who_want_that(self):
        self.newcomer()
        self.chrome.prefer(motion="reduce")
        self.person.add("Buy milk")
        self.assertEqual(self.chrome.execute_script(
            "return document.getAnimations().filter((animation) => animation.playState === 'running').length"), 0)


class Keyboard(PageTest):
    """No mouse from beginning to end."""

    def keys(self, *keys):
        for key in keys:
            self.chrome.switch_to.active_element.send_keys(key)

    def tab_to(self, name, most=30):
        for _ in range(most):
            if self.chrome.focused() == name:
                return
            self.keys(Keys.TAB)
        self.fail(f"{name!r} is not reached by Tab; the focus is on {self.chrome.focused()!r}")

    def has_ring(self):
        """Whether the focus can be seen: an outline on the element, or on what represents it."""
        return self.chrome.execute_script("""
            const element = document.activeElement;
            const shown = [element, element.nextElementSibling, element.closest("form")].filter(Boolean);
            return shown.some((it) => getComputedStyle(it).outlineStyle !== "none"
              && parseFloat(getComputedStyle(it).outlineWidth) >= 2);""")

    def test_the_whole_way(self):
        address = self.stranger()
        self.person.open()
        self.person.await_welcome()
        self.chrome.one("body").send_keys(Keys.TAB)
        self.assertEqual(self.chrome.focused(), "Skip to content")
        self.tab_to("Sign up")
        self.assertTrue(self.has_ring())
        self.keys(Keys.ENTER)
        self.person.fill(email=address, newPassword=PASSWORD, reenterPassword=PASSWORD, displayName="Kim Keys")
        self.person.await_list()

        self.tab_to("New task")
        self.assertTrue(self.has_ring())
        for text in ["three", "two", "one"]:
            self.keys(text, Keys.ENTER)
        self.assertEqual(self.chrome.focused(), "New task")
        self.person.await_texts("one", "two", "three")
        self.tab_to("one")
        self.assertTrue(self.has_ring())
        self.keys(Keys.SPACE)
        self.chrome.until(lambda: self.person.done() == ["one"], "one to be done")
        self.chrome.until(lambda: self.chrome.focused() == "two", "the next open task")

        self.tab_to("Edit two")
        self.keys(Keys.ENTER)
        self.assertEqual(self.chrome.focused(), "New text for two")
        self.keys(Keys.CONTROL + "a", "second", Keys.ENTER)
        self.person.await_texts("second", "three", "one")
        self.assertEqual(self.chrome.focused(), "Edit second")
        self.keys(Keys.ENTER, " thoughts", Keys.ESCAPE)
        self.person.await_texts("second", "three", "one")
        self.assertEqual(self.chrome.focused(), "Edit second")
        self.keys(Keys.CONTROL + "z")
        self.assertEqual(self.chrome.switch_to.active_element.get_attribute("value"), "second thoughts")
        self.keys(Keys.ESCAPE)

        self.tab_to("Delete second")
        self.keys(Keys.ENTER)
        self.person.await_texts("three", "one")
        self.assertEqual(self.chrome.focused(), "three")
        self.keys(Keys.CONTROL + "z")
        self.person.await_texts("second", "three", "one")

        self.chrome.one("#new").send_keys(Keys.TAB)
        self.tab_to("All")
        self.keys(Keys.ARROW_RIGHT)
        self.person.await_texts()
        self.assertTrue(self.has_ring())
        self.keys(Keys.ARROW_LEFT)
        self.tab_to("Clear 1")
        self.keys(Keys.ENTER)
        self.chrome.one("#new").send_keys(Keys.SHIFT + Keys.TAB)
        self.tab_to("Account: Kim Keys", 60)
        self.keys(Keys.ENTER)
        self.person.await_account()
        self.tab_to("Sign out")
        self.keys(Keys.ENTER)
        self.person.await_welcome()

    def test_what_happens_is_spoken(self):
        self.newcomer()
        spoken = lambda: self.chrome.one("#announcer").get_attribute("textContent")
        self.person.add("Buy milk")
        self.chrome.until(lambda: spoken() == "Added Buy milk", "the words")
        self.person.complete("Buy milk")
        self.chrome.until(lambda: spoken() == "Done: Buy milk. Control Z takes it back.", "the words")
        self.person.remove("Buy milk")
        self.chrome.until(lambda: spoken() == "Deleted: Buy milk", "the words")
        self.person.undo()
        self.chrome.until(lambda: spoken() == "Undone. Deleted: Buy milk", "the words")
