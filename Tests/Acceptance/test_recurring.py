"""Tasks that come again: the next one is there with the tick, without a network too, and one step takes both back."""

import random

from person import NewcomerTest, day, in_both_browsers
from test_repeat import parts_by_chance, text_of

MONDAYS = "FREQ=WEEKLY;BYDAY=MO"
# Keeps the most rows that stood among the open ones at once.
COUNT_ROWS = """
    const list = document.getElementById("rows"), count = () => list.children.length;
    window.most = count();
    new MutationObserver(() => (most = Math.max(most, count()))).observe(list, { childList: true });"""
CALL = "const [path, name, inputs, done] = arguments; import(path).then((all) => done(inputs.map((input) => all[name](...input))));"


@in_both_browsers
class Recurring(NewcomerTest):
    def open_again(self, **task):
        self.request("POST", "/api/tasks", {"task": "gym", "due": day(1), "repeat": "FREQ=DAILY", **task})
        self.person.refresh()
        self.person.row("gym")

    def await_server(self, *wanted):
        """Waits until the server has exactly these tasks: texts, whether they are completed, due dates and rules."""
        shown = lambda: [(it["task"], it["completed"], it.get("due"), it.get("repeat")) for it in self.on_server()]
        try:
            self.chrome.until(lambda: shown() == list(wanted), "the tasks")
        except Exception as error:
            raise AssertionError(f"expected {list(wanted)}, there are {shown()}") from error

    def call(self, module, name, *inputs):
        return self.chrome.execute_async_script(CALL, f"/{module}.js", name, inputs)

    def test_a_tick_shows_the_next_one_and_one_step_takes_both_back(self):
        self.open_again(repeat=MONDAYS)
        self.assertEqual(self.chrome.one(".repeat").accessible_name, "Repeats every Monday")
        [[monday]] = [self.call("repeat", "firstDate", [MONDAYS, day(1), day(1)])]
        self.chrome.execute_script(COUNT_ROWS)
        self.person.complete("gym")
        self.person.await_texts("gym", "gym")
        self.person.await_saved()
        self.await_server(("gym", True, day(1), None), ("gym", False, monday, MONDAYS))
        self.person.undo()
        self.person.await_texts("gym")
        self.await_server(("gym", False, day(1), MONDAYS))
        self.assertEqual(self.chrome.execute_script("return most"), 1)
        self.assertEqual(self.chrome.one("#rows time").get_attribute("datetime"), day(1))

    def finish_two_offline(self):
        """Finishes a task and the next one without a network, and renames the third one."""
        self.expected = ["ERR_INTERNET_DISCONNECTED", "NetworkError"]
        self.open_again()
        self.chrome.connect(False)
        await_due = lambda due: self.chrome.until(
            lambda: self.chrome.one("#rows time").get_attribute("datetime") == due, f"the one of {due}")
        for due in [day(1), day(2)]:
            await_due(due)
            self.person.complete("gym")
        await_due(day(3))
        self.person.rename("gym", "swim")
        self.person.await_status("Offline, 3 changes kept")
        first, second, edit = self.person.waiting()
        self.assertEqual((second["target"], edit["target"]), (first["key"], second["key"]))

    def test_an_edit_of_a_next_one_that_never_came_to_be_is_a_question(self):
        self.finish_two_offline()
        [task] = self.on_server()
        self.request("PATCH", f"/api/tasks/{task['Id']}", {"completed": True, "completedOn": day()})  # by another device
        self.chrome.connect(True)
        self.person.look_again()
        self.person.await_status("1 change not saved")
        self.assertIn("Deleted elsewhere.", self.person.row("swim").text)
        self.chrome.one("[data-decision=again]").click()
        self.person.await_saved()
        self.await_server(("gym", True, day(1), None), ("gym", False, day(2), "FREQ=DAILY"), ("swim", False, day(3), "FREQ=DAILY"))
        self.assertEqual(self.person.waiting(), [])

    def test_offline_the_next_one_can_be_finished_too_and_the_servers_take_its_place(self):
        self.finish_two_offline()
        row = self.person.row("swim")
        self.chrome.execute_script(COUNT_ROWS)
        self.person.go_online()
        self.await_server(("gym", True, day(1), None), ("gym", True, day(2), None), ("swim", False, day(3), "FREQ=DAILY"))
        self.assertEqual((self.chrome.execute_script("return most"), self.person.row("swim")), (1, row))

    def test_offline_one_step_takes_back_both(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED", "NetworkError"]
        self.open_again()
        self.chrome.connect(False)
        self.person.complete("gym")
        self.person.await_texts("gym", "gym")
        self.person.undo()
        self.person.await_texts("gym")
        self.chrome.connect(True)
        self.person.look_again()
        self.await_server(("gym", False, day(1), "FREQ=DAILY"))

    def test_a_step_back_leaves_a_next_one_that_somebody_has_changed(self):
        self.expected = ["412"]
        self.open_again()
        self.person.complete("gym")
        self.person.await_saved()
        self.person.deafen()
        self.request("PATCH", f"/api/tasks/{self.on_server()[1]['Id']}", {"notes": "Two towels"})
        self.person.undo()
        self.await_server(("gym", False, day(1), "FREQ=DAILY"), ("gym", False, day(2), "FREQ=DAILY"))

    def test_the_editor_has_the_usual_rules_and_shows_others_in_words(self):
        self.person.save("gym")
        for choice, rule in [("Daily", "FREQ=DAILY"), ("Custom", "FREQ=MONTHLY;INTERVAL=3"), ("Yearly", "FREQ=YEARLY")]:
            self.person.press("gym", ".edit")
            [option] = [it for it in self.chrome.all(".editor [name=repeat] option") if it.text == choice]
            option.click()
            self.assertEqual(self.chrome.one(".editor .custom").is_displayed(), choice == "Custom")
            if choice == "Custom":
                self.chrome.one(".custom select").send_keys("months")
                self.chrome.one(".custom input").clear()
                self.chrome.one(".custom input").send_keys("3")
            self.chrome.one(".editor [type=submit]").click()
            self.await_server(("gym", False, day(), rule))
        self.person.plan("gym", due="")
        self.await_server(("gym", False, None, None))
        self.person.undo()
        self.await_server(("gym", False, day(), "FREQ=YEARLY"))
        self.request("PATCH", f"/api/tasks/{self.on_server()[0]['Id']}", {"repeat": "FREQ=MONTHLY;BYDAY=-1FR"})
        self.person.refresh()
        self.person.press("gym", ".edit")
        self.assertEqual(self.chrome.one(".editor [name=repeat] :checked").text, "every last Friday of the month")
        self.chrome.one(".editor .cancel").click()
        self.person.press("gym", ".when")
        self.chrome.one("#day-menu button[value='']").click()
        self.await_server(("gym", False, None, None))
        self.person.undo()
        self.await_server(("gym", False, day(), "FREQ=MONTHLY;BYDAY=-1FR"))

    def test_the_page_and_the_server_agree_on_what_comes_next(self):
        chance = random.Random(7)
        tasks = [{"due": day(chance.randint(-400, 900)), "repeat": text_of(parts_by_chance(chance))} for _ in range(100)]
        tasks += [{"due": due, "repeat": rule} for due in ["2031-01-31", "2032-02-29"] for rule in ["FREQ=MONTHLY", "FREQ=YEARLY"]]
        for number, task in enumerate(tasks):
            self.request("POST", "/api/tasks", {"task": f"{number}", **task})
        tasks = [{name: task[name] for name in ("due", "repeat")} for task in self.on_server()]  # with each rule as the server writes it
        found = self.call("repeat", "following", *[[task, day()] for task in tasks])
        self.request("PATCH", "/api/tasks", [{"id": task["Id"], "completed": True, "completedOn": day()} for task in self.on_server()])
        made = {int(task["task"]): {name: task[name] for name in ("due", "repeat")} for task in self.on_server() if not task["completed"]}
        self.assertEqual([(task, made[number]) for number, task in enumerate(tasks)], list(zip(tasks, found)))

    def test_a_tick_names_the_day_of_the_person_but_none_that_the_server_refuses(self):
        body = lambda on: self.call("model", "bodyOf", [{"completed": True, "completedOn": on}])[0]
        self.assertEqual(body(day(1)), {"completed": True, "completedOn": day(1)})
        self.assertGreaterEqual(body("2020-01-01")["completedOn"], day(-2))
