"""A long list and many changes: the page stays quick. It measures, so nothing else runs beside it (run.py)."""

import test_many

TASKS = 2000
CHANGES = 300
MOST_AT_ONCE = 5
MOST_TIME = 1000  # milliseconds
MOST_TIME_TO_CLEAR = 10000
MOST_BLOCKED = 100  # milliseconds in one piece


class Quick(test_many.ManyTasks):
    def tick(self, ids):
        """Ticks tasks in another tab of this browser: each click here would wait for a picture of the whole list."""
        self.chrome.execute_async_script("""
            const [ids, done] = arguments;
            import("/model.js").then(({ Model }) => {
              const model = new Model(JSON.parse(sessionStorage["tasks.session"]).owner);
              for (const id of ids) model.complete({ id }, true);
              done();
            });""", ids)

    def test_many_changes_do_not_block_the_page(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED"]
        self.fill_list([f"Task {number}" for number in range(TASKS)])
        self.person.refresh()
        self.chrome.until(lambda: len(self.chrome.all("#rows > li")) == TASKS, "the list")
        self.chrome.connect(False)
        # A busy browser may tell the page late, or while its list is still on the way.
        self.chrome.until(lambda: self.person.look_again() or self.person.status() == "Offline", "Offline", 60)
        self.tick([task["Id"] for task in self.on_server()[:CHANGES]])
        self.person.await_status(f"Offline, {CHANGES} changes kept", 60)
        self.chrome.execute_script(test_many.WATCH)
        self.chrome.execute_script("""
            const status = document.getElementById("status"), begun = performance.now();
            new MutationObserver(() => (window.taken ??= status.textContent === "Saved" ? performance.now() - begun : undefined))
              .observe(status, { subtree: true, childList: true, characterData: true });""")
        self.chrome.connect(True)
        self.person.look_again()
        self.person.await_status("Saved", 120)
        taken, blocked, most, touched, sent = self.chrome.execute_script("return [taken, blocked, most, touched, sent]")
        print(f"{CHANGES} changes at {TASKS} tasks: {taken / 1000:.1f} s, blocked {sum(blocked) / 1000:.2f} s, "
              f"at most {max(blocked, default=0):.0f} ms at a time, {most} requests at once, {touched} mutations")
        self.assertEqual(sum(task["completed"] for task in self.on_server()), CHANGES)
        self.assertEqual([request for request in sent if "GET" not in request], ["PATCH /api/tasks"])
        self.assertLessEqual(most, MOST_AT_ONCE)
        self.assertLess(touched, 12 * CHANGES)
        self.assertLessEqual(taken, MOST_TIME)
        self.assertLessEqual(max(blocked, default=0), MOST_BLOCKED)

    def test_many_done_tasks_are_cleared(self):
        self.fill_list([f"Task {number}" for number in range(CHANGES)])
        self.request("PATCH", "/api/tasks", [{"id": task["Id"], "completed": True} for task in self.on_server()])
        self.person.refresh()
        self.chrome.execute_script(test_many.WATCH)
        self.chrome.execute_script("""
            const status = document.getElementById("status");
            new MutationObserver(() => {
              if (status.textContent === "Saving …" && sent.length) window.begun ??= performance.now();
              if (status.textContent === "Saved" && window.begun) window.taken ??= performance.now() - begun;
            }).observe(status, { subtree: true, childList: true, characterData: true });""")
        self.chrome.one("#clear").click()
        self.chrome.until(lambda: self.on_server() == [], "an empty list", 120)
        self.person.await_status("Saved", 120)
        taken, blocked, most, sent = self.chrome.execute_script("return [taken, blocked, most, sent.length]")
        print(f"{CHANGES} done tasks cleared: {taken / 1000:.1f} s, {sent} requests, {most} at once, blocked "
              f"{sum(blocked) / 1000:.2f} s, at most {max(blocked, default=0):.0f} ms at a time")
        self.assertLessEqual(most, MOST_AT_ONCE)
        self.assertLessEqual(taken, MOST_TIME_TO_CLEAR)
        self.assertLessEqual(max(blocked, default=0), MOST_BLOCKED)
