"""A long list and many changes: the page stays quick. What is measured is its processor time, which no other program changes."""

import test_many

TASKS = 2000
CHANGES = 300
MOST_AT_ONCE = 5

SAVED = """
    const [done] = arguments, status = document.getElementById("status");
    const look = () => {
      if (status.textContent !== "Saved" || sent.every((request) => request.startsWith("GET"))) return;
      observer.disconnect();
      done();
    };
    const observer = new MutationObserver(look);
    observer.observe(status, { subtree: true, childList: true, characterData: true });
    look();"""


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

    def busy_until_saved(self, begin):
        """The seconds of the processor that the page takes from a beginning until all is saved."""
        before = self.chrome.busy()
        begin()
        self.chrome.execute_async_script(SAVED)  # does not ask the page again and again, which would count
        return self.chrome.busy() - before

    def test_many_changes_do_not_block_the_page(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED"]
        self.fill_list([f"Task {number}" for number in range(TASKS)])
        self.person.refresh()
        self.chrome.until(lambda: len(self.chrome.all("#rows > li")) == TASKS, "the list")
        self.chrome.connect(False)
        # A busy browser may tell the page late, or while its list is still on the way.
        self.chrome.until(lambda: self.person.look_again() or self.person.status() == "Offline", "Offline")
        self.tick([task["Id"] for task in self.on_server()[:CHANGES]])
        self.person.await_status(f"Offline, {CHANGES} changes kept")
        self.chrome.execute_script(test_many.WATCH)
        busy = self.busy_until_saved(lambda: self.chrome.connect(True) or self.person.look_again())
        most, touched, sent = self.chrome.execute_script("return [most, touched, sent]")
        print(f"{CHANGES} changes at {TASKS} tasks: busy for {busy:.2f} s, {most} requests at once, {touched} mutations")
        self.assertEqual(sum(task["completed"] for task in self.on_server()), CHANGES)
        self.assertEqual([request for request in sent if "GET" not in request], ["PATCH /api/tasks"])
        self.assertLessEqual(most, MOST_AT_ONCE)
        self.assertLess(touched, 12 * CHANGES)
        self.assertLess(busy, 1)

    def test_many_done_tasks_are_cleared(self):
        self.fill_list([f"Task {number}" for number in range(CHANGES)])
        self.request("PATCH", "/api/tasks", [{"id": task["Id"], "completed": True} for task in self.on_server()])
        self.person.refresh()
        self.chrome.execute_script(test_many.WATCH)
        busy = self.busy_until_saved(self.chrome.one("#clear").click)
        self.chrome.until(lambda: self.on_server() == [], "an empty list")
        most, sent = self.chrome.execute_script("return [most, sent.length]")
        print(f"{CHANGES} done tasks cleared: busy for {busy:.2f} s, {sent} requests, {most} at once")
        self.assertLessEqual(most, MOST_AT_ONCE)
        self.assertLess(busy, 5)
