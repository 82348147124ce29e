"""What people expect of a to-do page: due dates, notes, an order of their own, finished tasks apart, search, shortcuts."""

import json
import struct
import urllib.request

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from chrome import Chrome
from person import NewcomerTest, PageTest, Person, fetching

# The page's clock, to be set; that of the session goes on as it does.
CLOCK = """
    const Real = Date;
    window.shift = 0;
    window.Date = class extends Real {
      constructor(...parts) {
        if (parts.length) super(...parts);
        else super(Real.now() + window.shift);
      }
    };
    window.setClock = (hours, minutes, seconds) => {
      const now = new Real();
      window.shift = new Real(now.getFullYear(), now.getMonth(), now.getDate(), hours, minutes, seconds) - now;
      window.dispatchEvent(new Event("focus"));
    };"""


class Planning(NewcomerTest):
    def details(self, text):
        """The optional members of the task with this text."""
        [task] = [task for task in self.on_server() if task["task"] == text]
        return {name: task[name] for name in ("due", "notes", "position") if name in task}

    def shown(self, text, part):
        """What a part of a row says, or None if it is empty."""
        found = self.chrome.execute_script(
            "return arguments[0].querySelector(arguments[1]).textContent || null", self.person.row(text), part)
        return found and found.strip()

    def await_shown(self, text, part, wanted):
        self.chrome.until(lambda: self.shown(text, part) == wanted, f"{part} of {text} to be {wanted}")

    def spoken(self):
        return self.chrome.one("#announcer").get_attribute("textContent")

    def day(self, distance=0):
        """A day as the page's clock has it, as one types it."""
        return self.chrome.execute_script("""
            const now = new Date();
            return new Date(now.getFullYear(), now.getMonth(), now.getDate() + arguments[0])
              .toLocaleDateString("en-US", { month: "2-digit", day: "2-digit", year: "numeric" }).replaceAll("/", "");""",
            distance)


class DueDates(Planning):
    def test_a_task_gets_a_due_date_and_loses_it(self):
        person = self.person
        person.save("Pay the rent")
        self.assertIsNone(self.shown("Pay the rent", ".due"))
        person.plan("Pay the rent", due="1231")
        self.assertEqual(self.chrome.words(".editor .field-error"), "This due date is no complete date.")
        self.chrome.one(".cancel").click()
        person.plan("Pay the rent", due="12312030")
        self.await_shown("Pay the rent", ".due", "Due Tue, Dec 31, 2030")
        person.await_saved()
        self.assertEqual(self.details("Pay the rent"), {"due": "2030-12-31"})
        person.refresh()
        self.await_shown("Pay the rent", ".due", "Due Tue, Dec 31, 2030")
        person.plan("Pay the rent", due="")
        self.await_shown("Pay the rent", ".due", None)
        person.await_saved()
        self.assertEqual(self.details("Pay the rent"), {})

    def test_a_task_gets_its_due_date_while_it_is_added(self):
        self.chrome.one("#new").send_keys("Call Ann")
        self.chrome.one("#new-due [value=tomorrow]").click()
        self.person.refresh()
        self.chrome.switch_to.active_element.send_keys(Keys.ENTER)
        self.await_shown("Call Ann", ".due", "Due Tomorrow")
        self.person.add("Pay the rent")
        self.assertIsNone(self.shown("Pay the rent", ".due"))
        self.chrome.one("#new").send_keys("Fly home")
        self.chrome.one("#new-day").send_keys("1231", Keys.ENTER)
        self.assertEqual(self.chrome.words("#new-error"), "This due date is no complete date.")
        self.chrome.one("#new-day").send_keys("12312030", Keys.ENTER)
        self.await_shown("Fly home", ".due", "Due Tue, Dec 31, 2030")

    def test_by_due_date_the_overdue_come_first_and_the_order_by_hand_stays(self):
        person = self.person
        self.fill("someday", {"task": "later", "due": "2099-12-31"}, {"task": "late", "due": "2020-01-01"}, {"task": "soon", "due": "2099-01-01"})
        self.chrome.one("#by-due").click()
        person.await_texts("late", "soon", "later", "someday")
        person.row("later").find_element("css selector", ".check").send_keys(Keys.ALT + Keys.ARROW_UP)
        person.plan("soon", due="")
        person.refresh()
        person.await_texts("late", "later", "someday", "soon")
        self.chrome.one("#by-due").click()
        person.await_texts("someday", "later", "late", "soon")

    def test_today_ends_at_midnight(self):
        person = self.person
        self.chrome.before_each_page(CLOCK)
        person.refresh()
        self.chrome.execute_script("setClock(12, 0, 0)")
        today = self.chrome.words("#day")
        person.add("Today's", "Tomorrow's", "Someday")
        person.plan("Today's", due=self.day())
        person.plan("Tomorrow's", due=self.day(1))
        self.await_shown("Today's", ".due", "Due Today")
        self.await_shown("Tomorrow's", ".due", "Due Tomorrow")
        person.filter("today")
        person.await_texts("Today's")
        person.await_saved()
        self.chrome.execute_script("setClock(23, 59, 58)")
        person.await_texts("Today's", "Tomorrow's")
        self.await_shown("Tomorrow's", ".due", "Due Today")
        self.assertNotEqual(self.chrome.words("#day"), today)
        self.assertEqual(self.chrome.words("#overdue-text"), "1 overdue")
        self.await_shown("Today's", ".due", "Overdue · Yesterday")
        person.complete("Today's")
        person.await_texts("Tomorrow's")
        person.add("Another")
        self.await_shown("Another", ".due", "Due Today")

    def test_the_day_is_that_of_the_time_zone(self):
        zone = lambda name: self.chrome.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": name})
        zone("Pacific/Kiritimati")
        self.person.add("Fly home")
        self.person.plan("Fly home", due=self.day())
        self.await_shown("Fly home", ".due", "Due Today")
        zone("Etc/GMT+12")
        self.person.look_again()
        self.chrome.until(lambda: self.shown("Fly home", ".due") != "Due Today", "another day")
        zone("Pacific/Kiritimati")
        self.person.look_again()
        self.await_shown("Fly home", ".due", "Due Today")


class Notes(Planning):
    def test_notes_are_kept_and_shown_whole_on_demand(self):
        lines = "\n".join(f"line {number}" for number in range(8))
        self.person.save("Pack")
        self.person.plan("Pack", notes=lines)
        self.await_shown("Pack", ".notes", lines)
        self.person.await_saved()
        self.assertEqual(self.details("Pack"), {"notes": lines})
        self.assertEqual(self.second_device().row("Pack").find_element("css selector", ".notes").get_attribute("textContent"), lines)
        cut = self.chrome.one(".notes").size["height"]
        self.person.press("Pack", ".edit")
        self.assertFalse(self.chrome.one(".notes").is_displayed())
        self.chrome.one(".cancel").click()
        self.person.press("Pack", ".more")
        self.assertGreater(self.chrome.one(".notes").size["height"], 2 * cut)
        self.person.plan("Pack", notes="")
        self.await_shown("Pack", ".notes", None)
        self.assertFalse(self.chrome.one(".more").is_displayed())

    def test_notes_that_are_too_long_say_so_and_stay(self):
        self.person.add("Pack")
        self.person.press("Pack", ".edit")
        self.chrome.execute_script("document.querySelector('.editor [name=notes]').value = 'ü'.repeat(5001)")
        self.chrome.one(".editor [name=notes]").send_keys(Keys.CONTROL, Keys.ENTER)
        self.assertIn("1 character too long", self.chrome.words(".editor .field-error"))

    def test_neither_device_overwrites_the_notes_of_the_other(self):
        self.person.save("Pack")
        other = self.second_device()
        self.person.deafen()
        other.plan("Pack", due="12302030", notes="Theirs")
        other.await_saved()
        self.person.plan("Pack", due="12312030", notes="Mine")
        self.chrome.until(lambda: self.chrome.one(".problem").is_displayed(), "the first question")
        self.assertIn("due date was changed elsewhere to “Mon, Dec 30, 2030”", self.chrome.words(".problem"))
        self.chrome.one("[data-decision=mine]").click()
        self.chrome.until(lambda: "notes were changed elsewhere to “Theirs”" in self.chrome.one(".problem").text, "the second")
        self.chrome.one("[data-decision=theirs]").click()
        self.await_shown("Pack", ".notes", "Theirs")
        self.person.await_saved()
        self.assertEqual(self.details("Pack"), {"due": "2030-12-31", "notes": "Theirs"})

    def test_a_task_that_was_deleted_elsewhere_comes_back_whole(self):
        self.expected = ["404"]
        self.person.add("Unpack", "Pack")
        self.person.plan("Pack", due="12312030")
        self.person.press("Pack", ".check")
        self.person.press("Pack", ".check")
        self.person.await_saved()
        other = self.second_device()
        self.person.deafen()
        other.remove("Pack")
        other.refresh()
        self.person.plan("Pack", notes="Two towels")
        self.chrome.until(lambda: self.chrome.one("[data-decision=again]"), "the question").click()
        self.person.await_saved()
        self.assertEqual(self.details("Pack"), {"due": "2030-12-31", "notes": "Two towels"})
        self.person.await_texts("Unpack", "Pack")

    def test_undo_while_the_deletion_is_under_way_keeps_the_task(self):
        self.person.save("one")
        self.chrome.execute_script(fetching("""
            const answer = await real(url, options);
            if (options.method === "DELETE") await hold();
            return answer;"""))
        self.person.remove("one")
        self.person.end_undo()
        self.person.await_held()
        self.assertEqual(self.on_server(), [])
        self.person.undo()
        self.chrome.execute_script("release()")
        self.person.await_texts("one")
        self.chrome.until(lambda: not self.person.waiting(), "the answers")
        self.assertEqual([task["task"] for task in self.on_server()], ["one"])


class Order(Planning):
    def setUp(self):
        super().setUp()
        self.fill("one", "two", "three", "four")
        self.person.await_texts("one", "two", "three", "four")

    def middle(self, text, selector):
        return self.chrome.execute_script("""
            const box = arguments[0].querySelector(arguments[1]).getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];""", self.person.row(text), selector)

    def grab(self, text, other, beyond=5):
        """Holds the handle of a row beyond the middle of another one."""
        handle = self.person.row(text).find_element("css selector", ".handle")
        distance = self.middle(other, ".check")[1] - self.middle(text, ".check")[1] + beyond
        return ActionChains(self.chrome).move_to_element(handle).click_and_hold().move_by_offset(0, int(distance))

    def await_everywhere(self, *texts):
        """The order on this page, after a reload, and on another device."""
        self.person.await_texts(*texts)
        self.person.await_saved()
        self.person.refresh()
        self.person.await_texts(*texts)
        self.second_device().await_texts(*texts)

    def test_a_row_is_dragged_to_its_place(self):
        self.grab("one", "three").release().perform()
        self.person.await_texts("two", "three", "one", "four")
        self.assertEqual(self.spoken(), "Moved one: 3 of 4")
        self.grab("four", "two", -5).release().perform()
        self.await_everywhere("four", "two", "three", "one")

    def test_escape_gives_dragging_up(self):
        self.grab("one", "three").send_keys(Keys.ESCAPE).release().perform()
        self.person.await_texts("one", "two", "three", "four")
        self.assertEqual(self.chrome.all(".dragged, .dragging, .row[style*=translate]"), [])
        self.assertEqual(self.person.status(), "Saved")

    def finger(self, text, *, right=0, down=0, hold=False):
        """Puts a finger on a text, holds it there perhaps, moves it, and takes it away."""
        self.chrome.until(lambda: self.chrome.execute_script("return !rows.getAnimations({ subtree: true }).length"), "rows at rest")
        x, y = self.middle(text, ".text")
        touch = lambda kind, *points: self.chrome.execute_cdp_cmd(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})
        touch("touchStart", (x, y))
        if hold:
            self.chrome.until(lambda: self.chrome.all(".dragged"), "the row to be held")
        for step in range(1, 11) if right or down else []:
            touch("touchMove", (x + right * step / 10, y + down * step / 10))
        touch("touchEnd")

    def test_a_finger_moves_finishes_deletes_and_opens(self):
        self.chrome.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        self.finger("one", down=self.middle("four", ".text")[1] - self.middle("one", ".text")[1] + 5, hold=True)
        self.await_everywhere("two", "three", "four", "one")
        self.finger("two", right=60)
        self.finger("three", right=-120)
        self.person.await_texts("two", "four", "one")
        self.person.await_let_go()
        self.finger("four", right=120)
        self.person.await_texts("two", "one", "four")
        self.assertEqual(self.person.done(), ["four"])
        self.assertEqual([button for button in self.chrome.all(".row > :is(.icon, .handle)") if button.size["width"] > 1
                          and button.value_of_css_property("clip-path") == "none" and button.is_displayed()], [])
        # On a busy machine a tap may last so long that it holds the row.
        self.chrome.until(lambda: self.chrome.all(".editor") or self.finger("two"), "the open task")
        self.assertEqual(self.chrome.focused(), "New text for two")

    def test_finished_tasks_are_struck_through(self):
        for text in ["two", "four", "one"]:
            self.person.complete(text)
        self.person.await_texts("three", "one", "four", "two")
        lines = [text.value_of_css_property("text-decoration-line") for text in self.chrome.all(".rows > li .text")]
        self.assertEqual(lines, ["none", "line-through", "line-through", "line-through"])

    def test_no_button_opens_the_keyboard_of_a_phone(self):
        phone = Chrome("--blink-settings=primaryHoverType=1,availableHoverTypes=1,primaryPointerType=2,availablePointerTypes=2")
        self.addCleanup(self.check_and_quit, phone)
        person = Person(phone, self.servers.page)
        person.sign_in(self.address)
        focused = lambda: phone.switch_to.active_element.get_attribute("id")
        person.complete("two")
        phone.one("#clear").click()
        self.assertEqual(focused(), "headline")
        person.undo()
        person.await_texts("one", "three", "four", "two")
        person.undo()
        person.await_texts("one", "two", "three", "four")
        self.assertEqual(focused(), "headline")

    def test_a_row_is_moved_with_the_keyboard(self):
        self.person.row("four").find_element("css selector", ".check").send_keys(Keys.ALT + Keys.ARROW_UP)
        self.person.await_texts("one", "two", "four", "three")
        self.assertEqual(self.chrome.focused(), "four")
        self.chrome.until(lambda: self.spoken() == "Moved four: 3 of 4", "the words")
        self.chrome.switch_to.active_element.send_keys(Keys.ALT + Keys.ARROW_UP)
        self.person.await_texts("one", "four", "two", "three")
        self.person.press("one", ".edit")
        self.chrome.one(".editor .down").click()
        self.chrome.until(lambda: self.spoken() == "Moved one: 2 of 4", "the words")
        self.chrome.one(".editor .cancel").click()
        self.await_everywhere("four", "one", "two", "three")
        self.person.add("five")
        self.person.await_texts("five", "four", "one", "two", "three")

    def test_neighbours_without_room_between_them_move_apart(self):
        ids = {task["task"]: task["Id"] for task in self.on_server()}
        for text in ["two", "three"]:
            self.request("PATCH", f"/api/tasks/{ids[text]}", {"position": ids["four"] + 1})
        self.person.refresh()
        self.person.await_texts("one", "four", "two", "three")
        self.person.row("one").find_element("css selector", ".check").send_keys(Keys.ALT + Keys.ARROW_DOWN)
        self.chrome.switch_to.active_element.send_keys(Keys.ALT + Keys.ARROW_DOWN)
        self.await_everywhere("four", "two", "one", "three")

    def test_what_is_planned_without_a_connection_is_kept(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED"]
        self.chrome.connect(False)
        self.person.add("five")
        self.person.row("one").find_element("css selector", ".check").send_keys(Keys.ALT + Keys.ARROW_UP)
        for _ in range(4):
            self.chrome.switch_to.active_element.send_keys(Keys.ALT + Keys.ARROW_DOWN)
        self.person.plan("five", due="12312030", notes="Written on the train")
        self.person.await_texts("five", "two", "three", "four", "one")
        self.person.await_status(r"Offline, \d+ changes kept")
        self.chrome.connect(True)
        self.person.look_again()
        self.await_everywhere("five", "two", "three", "four", "one")
        kept = self.details("five")
        self.assertEqual((kept["due"], kept["notes"]), ("2030-12-31", "Written on the train"))


class Finding(Planning):
    def setUp(self):
        super().setUp()
        self.person.save("Buy milk", "Visit the Café", "Buy bread")

    def in_list(self, name):
        return [element.text for element in self.chrome.all(f"#{name} > li .text")]

    def test_finished_tasks_are_in_a_section_of_their_own(self):
        person = self.person
        self.assertFalse(self.chrome.one("#finished").is_displayed())
        person.complete("Buy milk")
        self.assertEqual(self.in_list("rows"), ["Visit the Café", "Buy bread"])
        self.assertEqual(self.in_list("finished-rows"), ["Buy milk"])
        self.assertEqual(self.chrome.one("#finished-toggle").get_attribute("textContent"), "Finished 1")
        self.assertEqual(self.chrome.one("#clear").text, "Clear 1")
        toggle = self.chrome.one("#finished-toggle")
        toggle.click()
        self.assertEqual(toggle.get_attribute("aria-expanded"), "false")
        person.await_texts("Visit the Café", "Buy bread")
        self.chrome.one("#rows .check").send_keys(Keys.SPACE)
        person.await_texts("Buy bread")
        self.assertEqual(self.chrome.focused(), "Buy bread")
        person.await_saved()
        person.refresh()
        person.await_texts("Buy bread")
        person.filter("done")
        person.await_texts("Visit the Café", "Buy milk")  # the one that was finished last
        person.filter("all")
        self.chrome.one("#finished-toggle").click()
        person.complete("Buy milk")
        self.assertEqual(self.in_list("rows"), ["Buy milk", "Buy bread"])

    def test_search_finds_texts_and_notes(self):
        person = self.person
        person.plan("Buy bread", notes="At the bakery in Elm Street")
        person.complete("Buy bread")
        self.chrome.one("#finished-toggle").click()
        self.assertFalse(self.chrome.one("#query").is_displayed())
        self.chrome.one("#search-open").click()
        field = self.chrome.switch_to.active_element
        self.assertEqual(field.accessible_name, "Search tasks and notes")
        field.send_keys("vísit cafe")
        person.await_texts("Visit the Café")
        self.chrome.until(lambda: self.spoken() == "1 task found", "the words")
        field.clear()
        field.send_keys("ELM bak")
        person.await_texts("Buy bread")
        field.send_keys("x")
        person.await_texts()
        self.assertIn("Nothing found", self.chrome.words("#empty"))
        field.send_keys(Keys.ESCAPE)
        person.await_texts("Buy milk", "Visit the Café")
        self.assertFalse(self.chrome.one("#query").is_displayed())
        self.assertEqual(self.chrome.focused(), "Search")

    def test_single_keys_act_unless_somebody_writes(self):
        person = self.person
        self.chrome.one("#new").send_keys("n/?jkde")
        self.assertEqual(self.chrome.one("#new").get_attribute("value"), "n/?jkde")
        self.assertEqual(self.chrome.all("dialog[open], #search:not([hidden]), .editor"), [])
        self.chrome.one("#new").clear()
        self.chrome.one("#filters [value=all]").click()
        for key, name in [("j", "Buy milk"), ("j", "Visit the Café"), ("j", "Buy bread"), ("k", "Visit the Café")]:
            self.chrome.key(key)
            self.chrome.await_focus(name)
        self.chrome.key("d")
        self.chrome.until(lambda: self.chrome.switch_to.active_element.get_attribute("name") == "due", "the focus on the date")
        self.chrome.key(Keys.ESCAPE)
        self.chrome.await_focus("Edit Visit the Café")
        self.chrome.key("e")
        self.chrome.await_focus("New text for Visit the Café")
        self.chrome.key(Keys.ESCAPE)
        self.chrome.await_focus("Edit Visit the Café")
        self.chrome.key(Keys.DELETE)
        person.await_texts("Buy milk", "Buy bread")
        self.chrome.await_focus("Edit Buy bread")
        self.chrome.key("/")
        self.chrome.await_focus("Search tasks and notes")
        self.chrome.key(Keys.ESCAPE)
        self.chrome.await_focus("Search")
        self.chrome.key("n")
        self.chrome.await_focus("New task")

    def test_the_shortcuts_are_listed_and_can_be_switched_off(self):
        dialog = lambda: self.chrome.one("#shortcuts")
        await_dialog = lambda is_open: self.chrome.until(
            lambda: (dialog().get_attribute("open") is not None) == is_open, f"the dialog, open: {is_open}")
        self.chrome.one("#filters [value=all]").click()
        self.chrome.key("?")
        await_dialog(True)
        self.assertEqual(dialog().accessible_name, "Keyboard shortcuts")
        self.assertIn("Move it up", self.chrome.words("#shortcuts"))
        self.chrome.key("n")
        await_dialog(True)
        self.chrome.one("#single-keys").click()
        self.chrome.key(Keys.ESCAPE)
        await_dialog(False)
        self.chrome.one("#filters [value=all]").click()
        self.chrome.key("?")
        self.assertIsNone(dialog().get_attribute("open"))
        self.person.refresh()
        self.chrome.one("#shortcuts-open").click()
        await_dialog(True)
        self.assertFalse(self.chrome.one("#single-keys").is_selected())


class Installing(PageTest):
    def test_the_page_can_be_installed(self):
        self.person.open()
        self.person.await_welcome()
        found = self.chrome.execute_cdp_cmd("Page.getAppManifest", {})
        self.assertEqual((found["url"], found["errors"]), (f"{self.servers.page}/manifest.webmanifest", []))
        with urllib.request.urlopen(found["url"]) as answer:
            self.assertEqual(answer.headers["Content-Type"], "application/manifest+json")
            self.assertIn("manifest-src 'self'", answer.headers["Content-Security-Policy"])
            manifest = json.load(answer)
        pictures = [icon for icon in manifest["icons"] if icon["type"] == "image/png"]
        self.assertEqual({icon["purpose"] for icon in pictures}, {"any", "maskable"})
        for icon in [*pictures, {"src": "icon-180.png", "sizes": "180x180", "type": "image/png"}]:
            with urllib.request.urlopen(f"{self.servers.page}/{icon['src']}") as answer:
                self.assertEqual(answer.headers["Content-Type"], icon["type"])
                picture = answer.read()
            self.assertEqual("{}x{}".format(*struct.unpack(">II", picture[16:24])), icon["sizes"])
            self.assertLess(len(picture), 10_000)
        installability = self.chrome.execute_cdp_cmd("Page.getInstallabilityErrors", {})
        self.assertEqual(installability["installabilityErrors"], [])
