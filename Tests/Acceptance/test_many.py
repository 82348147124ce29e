"""Long lists and many changes: few requests, no change lost, and slow networks get their time."""

import concurrent.futures

from selenium.webdriver.common.keys import Keys

from person import PageTest, fetching

# The requests, how many were under way together, and what was changed in the document.
WATCH = """
    window.most = 0;
    window.sent = [];
    let under = 0;
    const real = window.fetch;
    window.fetch = async (...call) => {
      most = Math.max(most, ++under);
      sent.push(`${call[1]?.method} ${call[0]}`);
      try { return await real(...call); } finally { under -= 1; }
    };
    window.touched = 0;
    new MutationObserver((records) => (touched += records.length))
      .observe(document.getElementById("tasks"), { subtree: true, childList: true, attributes: true, characterData: true });"""


class ManyTasks(PageTest):
    def request(self, method, path, body=None):
        return self.servers.request(method, path, body, token=self.token)

    def fill_list(self, texts):
        self.newcomer()
        self.token = self.session()["token"]
        with concurrent.futures.ThreadPoolExecutor(8 if len(texts) > 100 else 1) as pool:  # a few in their order
            list(pool.map(lambda text: self.request("POST", "/api/tasks", {"task": text}), texts))


class Many(ManyTasks):
    def complete_offline(self, texts):
        self.fill_list(texts)
        self.person.refresh()
        self.chrome.connect(False)
        for text in texts:
            self.person.complete(text)
        self.person.await_status(f"Offline, {len(texts)} changes kept")
        self.chrome.execute_script(WATCH)

    def sent(self):
        """The requests that are to change something, since the page is watched."""
        return self.chrome.execute_script("return sent.filter((request) => !request.startsWith('GET'))")

    def test_a_task_that_is_gone_elsewhere_keeps_no_other_from_being_changed(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED", "404"]
        self.complete_offline(["one", "two", "three", "four"])
        self.request("DELETE", "/api/tasks/2")
        self.chrome.connect(True)
        self.person.look_again()
        self.chrome.until(lambda: len(self.sent()) == 2, "both lists")
        self.person.await_saved()
        self.assertEqual(
            [(task["task"], task["completed"]) for task in self.on_server()],
            [("one", True), ("three", True), ("four", True)])
        self.assertEqual(self.sent(), ["PATCH /api/tasks"] * 2)
        self.assertEqual(sorted(self.person.texts()), ["four", "one", "three"])

    def test_a_refusal_of_a_list_ends_at_the_row_that_it_is_about(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED"]
        self.complete_offline(["one", "two", "three"])
        self.chrome.execute_script(fetching("""
            if (options?.method !== "PATCH" || /[13]$/.test(url)) return real(url, options);
            sent.push(`PATCH ${url}`);
            return problem(url === "/api/tasks" ? 400 : 422, "request.field");"""))
        self.chrome.connect(True)
        self.person.look_again()
        self.person.await_status("1 change not saved")
        self.assertEqual(
            [(task["task"], task["completed"]) for task in self.on_server()],
            [("one", True), ("two", False), ("three", True)])
        self.assertEqual(sorted(self.sent()), ["PATCH /api/tasks"] + [f"PATCH /api/tasks/{id}" for id in [1, 2, 3]])
        self.assertEqual(len(self.chrome.all(".problem")), 1)
        self.assertIn("Title", self.person.row("two").text)

    def fill_with_done(self):
        """Eight tasks, the last of which is open."""
        self.fill_list([f"Task {number}" for number in range(1, 9)])
        self.request("PATCH", "/api/tasks", [{"id": id, "completed": True} for id in range(1, 8)])
        self.person.refresh()
        self.chrome.until(lambda: self.chrome.one("#clear").text == "Clear 7", "the list of this moment")
        self.person.deafen()
        self.chrome.execute_script(WATCH)

    def await_cleared(self, *kept):
        self.chrome.until(lambda: [task["Id"] for task in self.on_server()] == list(kept), f"only the tasks {kept}")
        self.person.look_again()
        self.person.await_saved()
        self.person.await_texts(*[task["task"] for task in sorted(self.on_server(), key=lambda task: task["completed"])])

    def test_what_is_shown_as_done_is_deleted_and_nothing_else(self):
        self.fill_with_done()
        self.request("PATCH", "/api/tasks/8", {"completed": True})  # nobody has looked since
        self.chrome.one("#clear").click()
        self.await_cleared(8)
        self.assertEqual(sorted(self.sent()), [f"DELETE /api/tasks/{id}" for id in range(1, 8)])
        self.chrome.until(lambda: self.person.done() == ["Task 8"], "the list as it is now")

    def test_a_done_task_that_was_changed_elsewhere_stays_and_shows_how(self):
        self.expected = ["404", "412"]
        self.fill_with_done()
        self.request("PATCH", "/api/tasks/1", {"completed": False})
        self.request("PATCH", "/api/tasks/2", {"task": "Task 2, for tomorrow"})
        self.request("PATCH", "/api/tasks/3", {"notes": "Not yet"})
        self.request("DELETE", "/api/tasks/4")
        # Another one is changed after the page has looked at it once more, and before its deletion arrives.
        self.chrome.execute_script(fetching("""
            if (options.method === "DELETE" && url.endsWith("/5")) {
              const { Authorization } = options.headers, headers = { Authorization, "Content-Type": "application/json" };
              await real("/api/tasks/5", { method: "PATCH", headers, body: '{"completed":false}' });
            }
            return real(url, options);"""))
        self.chrome.one("#clear").click()
        self.await_cleared(1, 2, 3, 5, 8)
        self.assertEqual(self.person.done(), ["Task 2, for tomorrow", "Task 3"])

    def test_what_was_cleared_is_compared_also_if_the_page_is_left_at_once(self):
        self.fill_with_done()
        self.chrome.one("#clear").click()
        self.chrome.until(lambda: len(self.person.waiting()) == 7, "the deletions to be kept")
        self.request("PATCH", "/api/tasks/1", {"completed": False})
        self.chrome.refresh()
        self.await_cleared(1, 8)

    def test_only_what_is_in_sight_can_be_cleared_and_undone(self):
        person = self.person
        self.newcomer()
        person.add("Buy milk", "Buy bread", "Call the plumber")
        for text in ["Buy bread", "Buy milk"]:
            person.complete(text)
        person.await_saved()
        person.filter("today")
        self.assertFalse(self.chrome.one("#clear").is_displayed())
        person.filter("all")
        self.chrome.one("#finished-toggle").click()
        self.assertFalse(self.chrome.one("#clear").is_displayed())
        self.chrome.one("#finished-toggle").click()
        self.chrome.one("#search-open").click()
        self.chrome.one("#query").send_keys("bread")
        person.await_texts("Buy bread")
        self.chrome.one("#clear").click()
        person.await_texts()
        self.assertFalse(self.chrome.one("#clear").is_displayed())
        self.chrome.one("#query").send_keys(Keys.ESCAPE)
        person.await_texts("Call the plumber", "Buy milk")
        self.person.undo()
        person.await_texts("Call the plumber", "Buy milk", "Buy bread")

    def test_who_looks_while_the_list_is_on_its_way_gets_a_newer_one(self):
        self.newcomer()
        self.chrome.execute_script("window.lists = 0;" + fetching("""
            if (url === "/api/tasks" && (lists += 1) === 1) await hold();
            return real(url, options);"""))
        self.person.look_again()
        self.person.await_held()
        self.person.look_again()
        self.chrome.execute_script("release()")
        self.chrome.until(lambda: self.chrome.execute_script("return lists") == 2, "the second list")
        self.person.await_saved()

    def await_ticks(self, count):
        """Waits until the page could have looked this many times."""
        ticks = lambda: self.chrome.execute_script("return ticks")
        last = ticks() + count
        self.chrome.until(lambda: ticks() >= last, f"{count} ticks")

    def test_a_page_in_sight_looks_for_what_another_device_has_changed(self):
        """Three hundred times as often as for people; not while nobody looks, without a network, or while a change is sent."""
        self.chrome.before_each_page("""
            const every = window.setInterval;
            window.setInterval = (action, time) => every(() => {
              window.ticks += 1;
              action();
            }, (window.period = time) / 300);
            Object.assign(window, { ticks: 0, looks: [], visibility: "visible", isConnected: true });
            Object.defineProperty(document, "visibilityState", { get: () => visibility });
            Object.defineProperty(navigator, "onLine", { get: () => isConnected });
            """ + fetching("""
            if (url === "/api/tasks/changes") return new Response(null, { status: 404 }); // a proxy that lets no stream through
            if (url === "/api/tasks" && options.method === "GET") looks.push(options.headers["If-None-Match"] ?? "all");
            if (options?.method === "PATCH") await hold();
            return real(url, options);"""))
        self.fill_list(["Buy milk"])
        self.person.refresh()
        self.assertEqual(self.chrome.execute_script("return period"), 30_000)
        looks = lambda: self.chrome.execute_script("return looks.splice(0)")
        looks()
        self.chrome.until(lambda: looks() not in ([], ["all"]), "conditional requests")
        self.chrome.until(lambda: not self.chrome.all(".row.news"), "the end of the tint")
        self.request("POST", "/api/tasks", {"task": "Buy bread"})
        self.chrome.until(lambda: self.chrome.all(".row.news"), "what is new to be tinted")
        self.assertEqual([row.text for row in self.chrome.all(".row.news")], ["Buy bread"])
        for stop, go in [("visibility = 'hidden'", "visibility = 'visible'"), ("isConnected = false", "isConnected = true"),
                         ("document.querySelector('.check').click()", "release()")]:
            self.chrome.execute_script(stop)
            if "click" in stop:
                self.person.await_held()
            self.await_ticks(2)  # a look may be under way
            looks()
            self.await_ticks(4)
            self.assertEqual(looks(), [], stop)
            self.chrome.execute_script(go)
            self.chrome.until(looks, f"a look after {go}")

    def test_a_long_list_over_a_slow_network_arrives(self):
        """The times of the page are a tenth here, so that the test need not last a minute."""
        self.fill_list([f"{number} {'x' * 4000}" for number in range(100)])
        self.chrome.before_each_page("""
            const timeout = AbortSignal.timeout.bind(AbortSignal), later = window.setTimeout.bind(window);
            AbortSignal.timeout = (time) => timeout(time / 10);
            window.setTimeout = (action, time, ...rest) => later(action, time / 10, ...rest);""")
        self.chrome.execute_script("""
            addEventListener("pagehide", () => {
              for (const storage of [sessionStorage, localStorage]) {
                for (const name of Object.keys(storage)) if (name.startsWith("tasks.list")) storage.removeItem(name);
              }
            });""")
        self.chrome.execute_cdp_cmd("Network.enable", {})
        self.chrome.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": False, "latency": 0, "downloadThroughput": 150_000, "uploadThroughput": -1})
        self.chrome.refresh()
        self.chrome.until(lambda: len(self.chrome.all("#rows > li")) == 100, "the list")
