"""Due dates by typing, and by a press: "Call Jonas friday" is a task for Friday, as long as nobody objects."""

from selenium.webdriver.common.keys import Keys

import axe
from firefox import Firefox
from person import NewcomerTest, in_both_browsers
from test_writing import PASTE
from typed_days import READINGS

# Returns what the page reads in each text, with the words that are left, on a Wednesday.
READ = """
    const [texts, done] = arguments, Real = Date;
    window.Date = class extends Real {
      constructor(...parts) {
        if (parts.length) super(...parts);
        else super(2026, 10, 25, 23, 59);
      }
    };
    import("/typed-days.js").then(({ dayIn }) => {
      const found = texts.map(([text, language]) => dayIn(text, language));
      window.Date = Real;
      done(found.map((it) => it && [it.day, it.rest, ...(it.repeat ? [it.repeat] : [])]));
    });"""


@in_both_browsers
class TypedDays(NewcomerTest):
    def write(self, text):
        self.chrome.one("#new").send_keys(text)
        return self.chrome.one("#new-chip")

    def await_task(self, text, due, repeat=None):
        self.person.await_texts(text)
        self.person.await_saved()
        [task] = self.on_server()
        self.assertEqual((task["task"], task.get("due"), task.get("repeat")), (text, due, repeat))

    def day(self, days):
        return self.chrome.execute_async_script(
            "import('/days.js').then(({ dayAfter }) => arguments[1](dayAfter(arguments[0])))", days)

    def test_what_names_a_day(self):
        texts = [(text, language) for language, readings in READINGS.items() for text in readings]
        found = self.chrome.execute_async_script(READ, texts)
        wanted = [reading and list(reading) for readings in READINGS.values() for reading in readings.values()]
        if self.browser_type is Firefox:  # its scripts of tests have a window of their own, and so another clock
            found, wanted = ([it and it[1:] for it in each] for each in (found, wanted))
        self.assertEqual(dict(zip(texts, found)), dict(zip(texts, wanted)))

    def test_enter_accepts_the_day_and_takes_its_words_out(self):
        chip = self.write("Call Jonas tomorrow")
        self.chrome.until(lambda: chip.text == "Tomorrow ×", "the day")  # what reads days is loaded at the first key
        self.assertFalse(self.chrome.one("#new-day").is_displayed())
        self.chrome.one("#new").send_keys(Keys.ENTER)
        self.await_task("Call Jonas", self.day(1))
        self.assertFalse(self.write("Call Ann").is_displayed())
        self.assertTrue(self.chrome.one("#new-due [value=today]").is_displayed())

    def test_enter_accepts_a_rule_and_a_click_keeps_its_words(self):
        chip = self.write("Water the plants every 3 days")
        self.chrome.until(lambda: chip.text == "Today, every 3 days ×", "the rule")
        chip.click()
        self.assertFalse(chip.is_displayed())
        self.chrome.one("#new").clear()
        self.chrome.one("#new").send_keys("Water the plants every 3 days", Keys.ENTER)
        self.await_task("Water the plants", self.day(0), "FREQ=DAILY;INTERVAL=3")

    def test_a_click_keeps_the_words_and_sets_no_day(self):
        chip = self.write("Call Jonas tomor")
        self.assertFalse(chip.is_displayed())
        self.write("row")
        self.chrome.until(chip.is_displayed, "the day")
        chip.click()
        self.assertFalse(chip.is_displayed())
        self.chrome.one("#new").send_keys(" morning", Keys.ENTER)
        self.await_task("Call Jonas tomorrow morning", None)
        self.assertTrue(self.write("Call Ann tomorrow").is_displayed())

    def test_a_day_that_was_chosen_counts_more_than_one_that_is_typed(self):
        self.write("Call Jonas")
        self.chrome.one("#new-due [value=today]").click()
        self.assertFalse(self.write(" tomorrow").is_displayed())
        self.chrome.one("#new").send_keys(Keys.ENTER)
        self.await_task("Call Jonas tomorrow", self.day(0))

    def test_a_text_that_is_changed_may_name_the_day(self):
        self.person.save("Call Jonas")
        text = self.edit_text(" tomorrow")
        self.assertEqual(self.chrome.one(".editor .offered").text, "Tomorrow ×")
        text.send_keys(Keys.ENTER)
        self.await_task("Call Jonas", self.day(1))
        self.person.undo()
        self.await_task("Call Jonas", None)

    def test_words_that_a_text_had_before_name_no_day(self):
        chip = self.write("Call Jonas tomorrow")
        self.chrome.until(chip.is_displayed, "the day")
        chip.click()
        self.chrome.one("#new").send_keys(Keys.ENTER)
        self.await_task("Call Jonas tomorrow", None)
        text = self.edit_text("!")
        self.assertFalse(self.chrome.one(".editor .offered").is_displayed())
        text.send_keys(Keys.ENTER)
        self.await_task("Call Jonas tomorrow!", None)

    def edit_text(self, added):
        self.chrome.one(".row .edit").send_keys(Keys.ENTER)
        text = self.chrome.one(".editor [name=text]")
        text.send_keys(added)
        return text

    def test_each_of_several_pasted_lines_may_name_a_day(self):
        lines = "- [ ] Call Jonas tomorrow\n1. Buy milk\n2. [x] Pay the rent today\n3. Sport every so often\n4. Swim every day\n31. nothing"
        self.chrome.one("#new").click()
        self.assertFalse(self.chrome.execute_script(PASTE, lines))
        texts = ["Call Jonas", "Buy milk", "Pay the rent", "Sport every so often", "Swim", "31. nothing"]
        self.person.await_texts(*texts)
        self.person.await_saved()
        due = {task["task"]: task.get("due") for task in self.on_server()}
        self.assertEqual([due[text] for text in texts], [self.day(1), None, self.day(0), None, self.day(0), None])

    def test_the_editor_and_the_row_have_the_usual_days(self):
        self.person.save("Call Jonas")
        monday = self.chrome.execute_async_script("import('/days.js').then(({ nextWeek }) => arguments[0](nextWeek()))")
        for where in ["editor", "row"]:
            for name, due in [("Today", self.day(0)), ("Tomorrow", self.day(1)), ("Next week", monday), ("None", None)]:
                self.person.press("Call Jonas", ".edit" if where == "editor" else ".when")
                days = ".editor .days" if where == "editor" else "#day-menu"
                [button] = [button for button in self.chrome.all(f"{days} button") if button.text == name]
                button.click()
                if where == "editor":
                    self.chrome.one(".editor [type=submit]").click()
                self.chrome.until(lambda: self.on_server()[0].get("due") == due, f"{name} in the {where}")
                self.assertFalse(self.chrome.one("#day-menu").is_displayed())
                self.assertIn("Call Jonas", self.chrome.switch_to.active_element.accessible_name)
        self.person.undo()
        self.chrome.until(lambda: self.on_server()[0].get("due") == monday, "the date before")


class Looks(NewcomerTest):
    def test_axe_finds_nothing_at_the_days(self):
        self.person.save("Call Jonas")
        self.chrome.one("#new").send_keys("Call Ann tomorrow")
        axe.check_looks(self, "a day that is typed")
        self.chrome.one("#new").clear()
        self.chrome.one(".when").send_keys(Keys.ENTER)
        axe.check_looks(self, "the menu of days")
