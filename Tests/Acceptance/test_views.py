"""What the list shows at once: ten tasks in a window, four views, and what else one expects of an app."""

import csv
import io
import itertools
import json
import urllib.request

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import axe
from person import day, in_both_browsers
from test_daily import Daily


class Density(Daily):
    def fill_window(self, *size):
        self.chrome.size(*size)
        self.fill(*[{"task": f"Paint board {number} of the fence", "due": day(number - 1)} for number in range(14)])
        self.person.complete("Paint board 13 of the fence")  # the progress is shown, too
        self.chrome.execute_script("scrollTo(0, 0)")
        return self.chrome.execute_script("""
            const box = (it) => it.getBoundingClientRect(), list = document.getElementById("rows");
            const end = Math.min(innerHeight, ...[box(document.getElementById("tools"))].map(({ top }) => (top > 300 ? top : innerHeight)));
            return [box(list).top, [...list.children].filter((row) => box(row).bottom <= end).length];""")

    def test_ten_dated_rows_are_in_sight_and_the_list_begins_at_250_pixels(self):
        top, rows = self.fill_window(1280, 800)
        print(f"at 1280 x 800 the list begins at {top:.0f} px and shows {rows} rows")
        self.assertLessEqual(top, 250)
        self.assertGreaterEqual(rows, 10)

    def test_two_bands_are_above_the_list_on_a_phone(self):
        top, rows = self.fill_window(360, 740)
        print(f"at 360 x 740 the list begins at {top:.0f} px and shows {rows} rows")
        self.assertLessEqual(top, 180)
        bands = self.chrome.execute_script("""
            const top = document.getElementById("rows").getBoundingClientRect().top;
            const shown = ["headline", "search-open", "by-due", "account", "new", "status", "filters"]
              .map((id) => document.getElementById(id).getBoundingClientRect());
            const bar = document.querySelector(".bar").getBoundingClientRect().bottom, add = document.getElementById("add").getBoundingClientRect();
            return shown.map(({ top: y, bottom }) => (bottom <= bar + 1 ? "bar" : y >= add.top && bottom <= add.bottom ? "field"
              : y > top ? "below" : "another"));""")
        self.assertEqual(bands, ["bar", "bar", "bar", "bar", "field", "field", "below"])

    def test_the_buttons_of_a_row_take_room_only_when_they_show(self):
        text = "Ask Jonas whether the drawings for the garden shed are ready " * 3
        self.fill(text.strip())
        size = lambda: self.chrome.one("#rows .text").size
        before = size()
        self.chrome.execute_script("document.querySelector('#rows .edit').focus({ focusVisible: true })")
        self.assertEqual(size(), before)
        self.assertGreater(before["width"], 600)


class Lines(Daily):
    """What stands in one line, and has a gap, on a desktop and on two phones."""

    def boxes(self, selector):
        return self.chrome.execute_script("""
            return [...document.querySelectorAll(arguments[0])].map((it) => it.getBoundingClientRect().toJSON())
              .filter(({ width }) => width);""", selector)

    def lines(self, selector):
        """How many elements each line has."""
        tops = [round(box["top"]) for box in self.boxes(selector)]
        return [tops.count(top) for top in sorted(set(tops))]

    def check_gaps(self, selector):
        for one, other in itertools.permutations(self.boxes(selector), 2):
            beside = [other["top"] - one["bottom"], one["top"] - other["bottom"], other["left"] - one["right"], one["left"] - other["right"]]
            self.assertGreaterEqual(max(beside), 4, (selector, one, other))

    def test_nothing_touches_and_nothing_is_alone_in_a_line(self):
        self.fill("one")
        for width, height in [(1280, 800), (390, 844), (320, 640)]:
            self.chrome.size(width, height)
            self.assertLess(self.boxes("#add")[0]["height"], 70)
            self.check_gaps("#new, #status, #add > .primary")
            self.chrome.one("#new").send_keys("Call Ann")
            self.check_gaps("#new-due > *, #status, #add > .primary")
            self.assertLess(self.boxes("#add > .primary")[0]["right"], self.boxes("#add")[0]["right"])
            self.chrome.one("#new").clear()
            self.assertLess(self.boxes("#filters label")[-1]["right"], width)
            self.person.press("one", ".edit")
            self.assertNotEqual(self.lines(".editor > .days > button")[-1], 1)
            self.chrome.one(".cancel").click()
            self.chrome.execute_script("shortcuts.showModal()")
            self.assertEqual(set(self.lines("#shortcuts dt:has(kbd ~ kbd ~ kbd) kbd")), {3})
            self.chrome.execute_script("shortcuts.close()")
            self.person.open_account()
            self.chrome.execute_script("data.open = true; document.getElementById('delete-list').click()")
            self.assertEqual(self.lines("#files > button"), [3])
            self.check_gaps("#person button, #person input, #person p:not(:has(button, input))")
            self.assertEqual(len({box["left"] for box in self.boxes("#delete-list, #delete-all, #deletion-name")}), 1)
            self.chrome.one("#person-close").click()


@in_both_browsers
class Views(Daily):
    def setUp(self):
        super().setUp()
        self.fill({"task": "late", "due": day(-3)}, {"task": "later", "due": day(9)}, {"task": "today", "due": day(0)},
                  {"task": "someday"}, {"task": "tomorrow", "due": day(1)}, {"task": "tomorrow, too", "due": day(1)},
                  {"task": "done", "completed": True, "due": day(0)}, {"task": "yesterday", "due": day(-1)})

    def test_today_has_overdue_and_today_and_upcoming_has_days(self):
        names = [label.get_attribute("textContent") for label in self.chrome.all("#filters label")]
        self.assertEqual(names, ["All", "Today 3", "Upcoming 3", "Done 1"])
        self.person.filter("today")
        self.person.await_texts("late", "yesterday", "today")
        self.assertEqual(self.chrome.words("#headline"), "3 for today")
        self.person.filter("upcoming")
        self.person.await_texts("tomorrow", "tomorrow, too", "later")
        days = [heading.text for heading in self.chrome.all("#rows .day")]
        self.assertEqual((days[0], len(days)), ("Tomorrow", 2))
        self.person.complete("tomorrow")
        self.person.await_texts("tomorrow, too", "later")
        self.assertEqual([heading.text for heading in self.chrome.all("#rows .day")], days)
        self.person.filter("all")
        self.chrome.until(lambda: not self.chrome.all("#rows .day"), "no days any more")
        self.person.filter("done")
        self.person.await_texts("tomorrow", "done")

    def test_overdue_tasks_are_moved_to_today_and_back(self):
        self.person.filter("today")
        self.assertEqual(self.chrome.words("#overdue-text"), "2 overdue")
        self.assertEqual(self.style("#to-today", "borderTopColor"), self.style("#shortcuts .secondary", "borderTopColor"))
        self.chrome.one("#to-today").click()
        self.chrome.until(lambda: not self.chrome.one("#to-today").is_displayed(), "nothing overdue")
        self.assertEqual(self.chrome.words("#toast-text"), "2 moved to today")
        self.person.await_saved()
        due = lambda: {task["task"]: task.get("due") for task in self.on_server()}
        self.assertEqual([due()[name] for name in ["late", "yesterday", "later"]], [day(0), day(0), day(9)])
        self.person.undo()
        self.chrome.until(lambda: self.chrome.one("#to-today").is_displayed(), "the overdue again")
        self.person.await_saved()
        self.assertEqual([due()[name] for name in ["late", "yesterday", "later"]], [day(-3), day(-1), day(9)])


    def style(self, selector, name):
        return self.chrome.execute_script("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, name)

    def test_in_today_each_day_keeps_its_own_order(self):
        self.person.filter("today")
        self.person.await_texts("late", "yesterday", "today")
        self.request("POST", "/api/tasks", {"task": "today, too", "due": day(0)})
        self.person.await_texts("late", "yesterday", "today", "today, too")
        self.person.row("today, too").find_element("css selector", ".check").send_keys(Keys.ALT + Keys.UP)
        self.person.await_texts("late", "yesterday", "today, too", "today")
        self.person.row("today, too").find_element("css selector", ".check").send_keys(Keys.ALT + Keys.UP)
        self.person.await_saved()
        self.person.await_texts("late", "yesterday", "today, too", "today")

    def test_a_search_looks_at_all_views_and_says_where_a_task_is(self):
        self.person.filter("upcoming")
        tick = self.picture()
        self.chrome.one("#search-open").click()
        field = self.chrome.one("#query")
        field.send_keys("DÁY")
        self.person.await_texts("today", "someday", "yesterday")
        self.assertEqual(self.chrome.words("#headline"), "3 found")
        state = lambda: [element.text for element in self.chrome.all("#rows .row-state")]
        self.assertEqual(state(), ["Today", "All", "Today"])
        self.assertEqual(self.chrome.execute_script("return [...CSS.highlights.get('found')].map(String)"), ["day"] * 3)
        field.send_keys("x")
        self.person.await_texts()
        self.assertNotEqual(self.picture(), tick)
        field.send_keys(Keys.ESCAPE)
        self.person.await_texts("tomorrow", "tomorrow, too", "later")
        self.assertEqual(state(), [""] * 3)
        self.assertFalse(self.chrome.execute_script("return CSS.highlights.has('found')"))

    def picture(self):
        return self.chrome.one("#empty path").get_attribute("d")


@in_both_browsers
class Details(Daily):
    def notes_on_server(self):
        return self.on_server()[0].get("notes")

    def write(self, notes):
        self.person.press("one", ".edit")
        self.chrome.one(".editor [name=notes]").send_keys(notes)

    def test_notes_save_themselves_and_are_taken_back_as_one_step(self):
        self.fill("one")
        self.write("Written")
        self.chrome.until(lambda: self.notes_on_server() == "Written", "the notes")
        self.chrome.one(".editor [name=notes]").send_keys(" on", Keys.CONTROL + Keys.ENTER)
        self.chrome.until(lambda: self.notes_on_server() == "Written on", "all of the notes")
        self.assertEqual(self.chrome.all(".problem"), [])
        self.person.undo()
        self.chrome.until(lambda: self.notes_on_server() is None, "no notes")
        self.write("Written")
        self.chrome.until(lambda: self.notes_on_server() == "Written", "the notes again")
        self.chrome.key(Keys.ESCAPE)
        self.chrome.until(lambda: self.notes_on_server() is None, "the notes as they were")

    def test_the_menu_of_a_row_opens_the_calendar(self):
        self.fill("one")
        self.person.press("one", ".when")
        self.chrome.one("#day-menu [value=pick]").click()
        self.chrome.until(lambda: self.chrome.execute_script("return document.activeElement.name === 'due'"), "the field of the date")

    def test_a_tag_shows_all_tasks_that_have_it(self):
        self.fill("Buy paint #work", "Visit the #workshop", {"task": "Paid (#Work)", "completed": True}, "https://example.com/ #1 a#work")
        self.assertEqual([tag.text for tag in self.chrome.all("#rows .tag")], ["#work", "#workshop"])
        self.chrome.one("#rows .tag").click()
        self.person.await_texts("Buy paint #work", "Paid (#Work)")
        self.assertEqual(self.chrome.execute_script("return [...CSS.highlights.get('found')].map(String)"), ["#work", "#Work"])


class Truth(Daily):
    def progress(self):
        return self.chrome.execute_script("const { value, max } = document.getElementById('progress'); return [value, max]")

    def test_what_was_cleared_was_done(self):
        self.fill("open", *[{"task": f"done {number}", "completed": True} for number in range(4)])
        self.assertEqual(self.progress(), [4, 5])
        self.person.filter("done")
        self.chrome.one("#clear").click()
        self.person.await_texts()
        self.assertNotIn("Nothing done", self.chrome.words("#empty"))
        self.assertEqual(self.progress(), [4, 5])
        self.person.undo()
        self.person.await_texts(*[f"done {number}" for number in reversed(range(4))])
        self.assertEqual(self.progress(), [4, 5])
        self.chrome.one("#clear").click()
        self.person.refresh()
        self.assertEqual(self.progress(), [4, 5])

    def test_a_wheel_while_dragging_takes_the_row_along(self):
        self.fill(*[f"Paint board {number}" for number in range(40)])
        distance = self.chrome.execute_async_script("""
            const [done] = arguments, list = document.getElementById("rows"), row = list.children[3];
            document.getAnimations().forEach((animation) => animation.finish());
            list.setPointerCapture = list.releasePointerCapture = () => {}; // no real pointer is here
            const y = row.getBoundingClientRect().top + 20;
            const point = (target, type) => target.dispatchEvent(
              new PointerEvent(type, { pointerId: 7, button: 0, clientY: y, bubbles: true }));
            point(row.querySelector(".handle"), "pointerdown");
            addEventListener("scroll", () => setTimeout(() => {
              const away = row.getBoundingClientRect().top + 20 - y;
              point(list, "pointerup");
              done(away);
            }), { once: true });
            scrollBy(0, 400);""")
        self.assertLess(abs(distance), 10)
        self.assertEqual(self.person.texts().index("Paint board 3"), 11)


class Several(Daily):
    def setUp(self):
        super().setUp()
        self.fill("one", "two", "three", "four", "five")

    def shift_click(self, text):
        element = self.person.row(text).find_element("css selector", ".text")
        ActionChains(self.chrome, 0).key_down(Keys.SHIFT).click(element).key_up(Keys.SHIFT).perform()

    def selected(self):
        return [row.text for row in self.chrome.all(".row.selected .text")]

    def test_shift_selects_rows_to_finish_plan_and_delete(self):
        self.shift_click("two")
        self.shift_click("four")
        self.assertEqual(self.selected(), ["two", "three", "four"])
        self.assertEqual(self.chrome.words("#selected"), "3 selected")
        axe.check_looks(self, "selected tasks")
        self.chrome.size(1280, 900)
        self.chrome.one("#selection [value=finish]").click()
        self.person.await_texts("one", "five", "two", "three", "four")
        self.assertFalse(self.chrome.one("#selection").is_displayed())
        self.person.undo()
        self.person.await_texts("one", "two", "three", "four", "five")
        self.chrome.execute_script("document.querySelector('#rows .check').focus()")
        self.chrome.key("x")
        self.chrome.key("j")
        self.chrome.key("x")
        self.chrome.one("#selection [value=date]").click()
        axe.check_looks(self, "the days of selected tasks")
        self.chrome.size(1280, 900)
        self.chrome.key(Keys.ESCAPE)  # closes the menu, and keeps the selection
        self.assertEqual(self.selected(), ["one", "two"])
        self.chrome.one("#selection [value=date]").click()
        boxes = "return ['#day-menu', '#selection [value=date]'].map((it) => document.querySelector(it).getBoundingClientRect())"
        menu, button = self.chrome.execute_script(boxes)
        self.assertLess(menu["bottom"], button["top"] + 1, "the menu covers its button, so a double click takes the dates away")
        self.chrome.one("#day-menu [value=tomorrow]").click()
        self.chrome.until(lambda: not self.chrome.one("#selection").is_displayed(), "the date")
        self.assertEqual(self.chrome.words("#toast-text"), "2 planned")
        self.person.await_saved()
        self.assertEqual([task.get("due") for task in self.on_server()], [day(1), day(1), None, None, None])
        self.shift_click("one")
        self.chrome.one("#rows .text").click()  # takes it out again
        self.assertEqual(self.selected(), [])
        self.shift_click("one")
        self.shift_click("five")
        self.chrome.key(Keys.ESCAPE)
        self.assertEqual(self.selected(), [])
        self.shift_click("one")
        self.shift_click("four")
        self.chrome.one("#selection [value=delete]").click()
        self.person.await_texts("five")
        self.person.undo()
        self.person.await_texts("one", "two", "three", "four", "five")
        self.person.await_saved()
        self.assertEqual(len(self.on_server()), 5)

    def test_a_finger_that_rests_selects_and_one_that_moves_drags(self):
        self.chrome.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        box = self.person.row("two").find_element("css selector", ".text").rect
        at = [{"x": box["x"] + 20, "y": box["y"] + 20}]
        self.chrome.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": at})
        self.chrome.until(lambda: self.chrome.all(".dragged"), "the row to be held")
        self.chrome.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        self.chrome.until(lambda: self.selected() == ["two"], "the row to be selected")
        self.assertEqual(self.chrome.all(".editor"), [])
        self.person.await_texts("one", "two", "three", "four", "five")


class App(Daily):
    def test_the_icon_of_the_installed_app_counts_what_is_due(self):
        self.chrome.before_each_page("""
            navigator.setAppBadge = async (count) => (window.badge = count);
            navigator.clearAppBadge = async () => (window.badge = null);""")
        self.fill({"task": "late", "due": day(-1)}, {"task": "now", "due": day(0)}, {"task": "later", "due": day(2)})
        badge = lambda: self.chrome.execute_script("return window.badge")
        self.chrome.until(lambda: badge() == 2, "two due tasks")
        self.person.complete("late")
        self.chrome.until(lambda: badge() == 1, "one due task")

    def test_the_shortcut_of_the_app_leads_to_the_field(self):
        with urllib.request.urlopen(f"{self.servers.page}/manifest.webmanifest") as answer:
            [shortcut] = json.load(answer)["shortcuts"]
        self.chrome.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        self.person.open("/404")
        self.expected = ["404"]
        self.person.open(shortcut["url"].removeprefix("."))
        self.person.await_list()
        self.assertEqual(self.chrome.focused(), "New task")

    def test_the_list_is_saved_as_a_file(self):
        self.chrome.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "deny"})
        self.fill({"task": 'Buy "good" milk', "due": day(1), "repeat": "FREQ=DAILY", "notes": "two\nlines"},
                  {"task": "=1+1", "completed": True})
        self.chrome.execute_script("""
            window.files = [];
            URL.createObjectURL = (blob) => {
              blob.text().then((text) => files.push([blob.type, text]));
              return "#";
            };""")
        self.person.open_account()
        self.chrome.one("#data summary").click()
        for button in self.chrome.all("#files button"):
            button.click()
        files = dict(self.chrome.until(lambda: (it := self.chrome.execute_script("return files")) and len(it) == 3 and it, "the files"))
        self.assertEqual(files["text/plain"], f'[ ] Buy "good" milk (due {day(1)}, every day)\n    two\n    lines\n[x] =1+1\n')
        rows = list(csv.reader(io.StringIO(files["text/csv"].removeprefix("\ufeff"))))
        self.assertEqual(rows, [["task", "completed", "due", "notes", "repeat"], ['Buy "good" milk', "false", day(1), "two\nlines", "FREQ=DAILY"],
                                ["'=1+1", "true", "", "", ""]])
        self.assertEqual(json.loads(files["application/json"])[0],
                         {"task": 'Buy "good" milk', "completed": False, "due": day(1), "repeat": "FREQ=DAILY", "notes": "two\nlines"})

    def test_pages_for_developers_are_in_the_account(self):
        shown = lambda selector: [link.text for link in self.chrome.all(selector) if link.is_displayed()]
        self.assertEqual(shown(".foot a"), [])
        self.person.open_account()
        self.chrome.one("#person summary").click()
        self.assertEqual(shown("#person .links a"), ["API", "Problems explained", "OpenAPI"])
        self.chrome.one("#person-close").click()
        self.person.sign_out()
        self.assertEqual(shown(".foot a"), ["API", "Problems explained", "OpenAPI"])
