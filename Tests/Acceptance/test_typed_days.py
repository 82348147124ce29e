"""Due dates by typing, and by a press: "Call Jonas friday" is a task for Friday, as long as nobody objects."""

from selenium.webdriver.common.keys import Keys

import axe
from chrome import Chrome
from firefox import Firefox
from person import PageTest

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
      done(found.map((it) => it && [it.day, it.rest]));
    });"""

READINGS = {
    "en-US": {
        "Call Jonas friday": ("2026-11-27", "Call Jonas"),
        "Call Jonas wednesday": ("2026-12-02", "Call Jonas"),
        "Call Jonas FRI": ("2026-11-27", "Call Jonas"),
        "Meet Ann on friday, with cake": ("2026-11-27", "Meet Ann, with cake"),
        "Friday: call Jonas": ("2026-11-27", ": call Jonas"),
        "Call Jonas next mon": ("2026-11-30", "Call Jonas"),
        "Call Jonas next fri": ("2026-12-04", "Call Jonas"),
        "Call Jonas next week": ("2026-11-30", "Call Jonas"),
        "Call Jonas today": ("2026-11-25", "Call Jonas"),
        "Tomorrow call Jonas": ("2026-11-26", "call Jonas"),
        "Pay in 2 weeks": ("2026-12-09", "Pay"),
        "Pay in 1 day": ("2026-11-26", "Pay"),
        "Pay in a month": ("2026-12-25", "Pay"),
        "Pay in 3 months": ("2027-02-25", "Pay"),
        "Pay 3 dec": ("2026-12-03", "Pay"),
        "Pay Dec 3rd": ("2026-12-03", "Pay"),
        "Pay 3 march": ("2027-03-03", "Pay"),
        "Pay the 3rd of december 2028": ("2028-12-03", "Pay the"),
        "Pay by 12/3": ("2026-12-03", "Pay"),
        "Pay 2027-02-03": ("2027-02-03", "Pay"),
        "Move friday to monday": ("2026-11-30", "Move friday to"),
        'Watch "friday" tonight': None,
        "Watch “Freaky Friday”": None,
        "friday": None,
        "Buy sun cream": None,
        "Buy 1/2 l of milk": None,
        "Pay 31 feb": None,
        "Read https://example.com/friday": None,
        "Fridays for Future": None,
        "May the force be with you": None,
    },
    "en-GB": {"Pay 3/12": ("2026-12-03", "Pay")},
    "de-DE": {
        "Zahlen 3.12.": ("2026-12-03", "Zahlen"),
        "Zahlen 3.2.2028": ("2028-02-03", "Zahlen"),
        "Zahlen 3. Dezember": ("2026-12-03", "Zahlen"),
        "Jonas anrufen freitag": ("2026-11-27", "Jonas anrufen"),
        "Übermorgen zahlen": ("2026-11-27", "zahlen"),
        "Zahlen in 2 Wochen": ("2026-12-09", "Zahlen"),
        "Zahlen friday": ("2026-11-27", "Zahlen"),
    },
    "fr-FR": {"Payer vendredi": ("2026-11-27", "Payer"), "Payer 3 décembre": ("2026-12-03", "Payer")},
}


class TypedDays:
    def setUp(self):
        super().setUp()
        self.newcomer()

    def write(self, text):
        self.chrome.one("#new").send_keys(text)
        return self.chrome.one("#new-chip")

    def await_task(self, text, due):
        self.person.await_texts(text)
        self.person.await_saved()
        [task] = self.on_server()
        self.assertEqual((task["task"], task.get("due")), (text, due))

    def day(self, days):
        return self.chrome.execute_async_script(
            "import('/days.js').then(({ dayAfter }) => arguments[1](dayAfter(arguments[0])))", days)

    def test_what_names_a_day(self):
        texts = [(text, language) for language, readings in READINGS.items() for text in readings]
        found = self.chrome.execute_async_script(READ, texts)
        wanted = [reading and list(reading) for readings in READINGS.values() for reading in readings.values()]
        if not self.can_set_clock:
            found, wanted = ([it and it[1] for it in each] for each in (found, wanted))
        self.assertEqual(dict(zip(texts, found)), dict(zip(texts, wanted)))

    def test_enter_accepts_the_day_and_takes_its_words_out(self):
        chip = self.write("Call Jonas tomorrow")
        self.assertEqual(chip.text, "Tomorrow ×")
        self.assertFalse(self.chrome.one("#new-day").is_displayed())
        self.chrome.one("#new").send_keys(Keys.ENTER)
        self.await_task("Call Jonas", self.day(1))
        self.assertFalse(self.write("Call Ann").is_displayed())
        self.assertTrue(self.chrome.one("#new-due [value=today]").is_displayed())

    def test_a_click_keeps_the_words_and_sets_no_day(self):
        chip = self.write("Call Jonas tomor")
        self.assertFalse(chip.is_displayed())
        self.write("row").click()
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


class InChromium(TypedDays, PageTest):
    browser_type = Chrome
    can_set_clock = True

    def test_axe_finds_nothing_at_the_days(self):
        self.person.save("Call Jonas")
        self.write("Call Ann tomorrow")
        axe.check_looks(self, "a day that is typed")
        self.chrome.one("#new").clear()
        self.chrome.one(".when").send_keys(Keys.ENTER)
        axe.check_looks(self, "the menu of days")


class InFirefox(TypedDays, PageTest):
    browser_type = Firefox
    can_set_clock = False  # its scripts of tests have a window of their own
