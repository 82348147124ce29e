"""A thousand tasks: what a person does is on the screen at once. Limits are of the page's processor time at its shortest, since other
programs only add to it; how long it takes until the picture is there is printed, too."""

import test_many

TASKS = 1000
TIMES = 5

# Milliseconds, with room for a machine that others use at the same time. Until the picture is there they are meant to be 60, 150, 50.
TICK, VIEW, ADDING = 150, 400, 250

# Does something, and waits until the next picture is on the screen.
DO = """
    const [script, done] = arguments, begin = performance.now();
    Function(script)();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));"""

TICK_ONE = "document.querySelectorAll('#rows > :not(.held) > .check')[3].click()"
FILTER = "document.querySelector('[name=filter][value={}]').click()"


class Long(test_many.ManyTasks):
    def cost(self, what, *scripts):
        """The milliseconds that the page takes for each of the scripts in turn, in the shortest of several rounds."""
        taken, shown = [[] for _ in scripts], [[] for _ in scripts]
        for _ in range(TIMES):
            for times, until, script in zip(taken, shown, scripts):
                before = self.chrome.busy()
                until.append(self.chrome.execute_async_script(DO, script))
                times.append(1000 * (self.chrome.busy() - before))
                self.person.await_saved()
        for times, until in zip(taken, shown):
            print(f"{what}: the page is busy for {min(times):.0f} ms, and the picture is there after {min(until):.0f} ms")
        return [min(times) for times in taken]

    def test_a_long_list_is_quick(self):
        self.fill_list([f"Task {number}, which is one of many" for number in range(TASKS)])
        self.request("PATCH", "/api/tasks", [
            {"id": task["Id"], "due": "2020-01-01"} for task in self.on_server()[:300]])
        self.person.refresh()
        self.chrome.until(lambda: len(self.chrome.all("#rows > li")) == TASKS, "the list")
        seen = "return [...document.querySelectorAll('.text')].filter((it) => it.checkVisibility({ contentVisibilityAuto: true })).length"
        self.assertLess(self.chrome.execute_script(seen), TASKS / 2)
        [tick] = self.cost("tick", TICK_ONE)
        views = self.cost("another view", *[FILTER.format(name) for name in ["today", "all"]])
        [adding] = self.cost("adding", "document.getElementById('new').value = 'Another'; document.getElementById('add').requestSubmit()")
        # Chromium asks at each change of the list whether such a rule matches elsewhere: some of them doubled the time of a tick.
        self.assertEqual(self.chrome.execute_script("""
            const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
            return rules.map(({ cssText }) => cssText).filter((text) => text.includes(":has("));"""), [])
        self.assertLess(tick, TICK)
        self.assertLess(max(views), VIEW)
        self.assertLess(adding, ADDING)
