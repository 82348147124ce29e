"""Long lists and many changes: the page stays quick, and slow networks get their time."""

import concurrent.futures
import json
import unittest
import urllib.request

from person import PageTest

TASKS = 2000
CHANGES = 300
MOST_AT_ONCE = 5

# What the browser was busy with for longer than 50 ms at a time, and the requests that were under way together.
WATCH = """
    window.blocked = [];
    new PerformanceObserver((list) => blocked.push(...list.getEntries().map((entry) => entry.duration)))
      .observe({ entryTypes: ["longtask"] });
    window.most = 0;
    let under = 0;
    const real = window.fetch;
    window.fetch = async (...call) => {
      most = Math.max(most, ++under);
      try { return await real(...call); } finally { under -= 1; }
    };
    window.touched = 0;
    new MutationObserver((records) => (touched += records.length))
      .observe(document.getElementById("rows"), { subtree: true, childList: true, attributes: true, characterData: true });"""


class Many(PageTest):
    def request(self, method, path, body=None):
        request = urllib.request.Request(
            self.servers.page + path, method=method, data=body and json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def fill_list(self, texts):
        self.newcomer()
        self.token = json.loads(self.chrome.execute_script("return sessionStorage['tasks.session']"))["token"]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda text: self.request("POST", "/api/tasks", {"task": text}), texts))

    def on_server(self):
        return json.loads(self.request("GET", "/api/tasks"))

    def test_many_changes_do_not_block_the_page(self):
        self.expected = ["ERR_INTERNET_DISCONNECTED"]
        self.fill_list([f"Task {number}" for number in range(TASKS)])
        self.person.refresh()
        self.chrome.until(lambda: len(self.chrome.all("#rows > li")) == TASKS, "the list")
        self.chrome.connect(False)
        self.chrome.execute_async_script("""
            const [most, done] = arguments;
            (async () => {
              for (const box of [...document.querySelectorAll(".check")].slice(0, most)) {
                box.click();
                await new Promise((resolve) => setTimeout(resolve));
              }
              done();
            })();""", CHANGES)
        self.person.await_status(f"Offline · {CHANGES} changes kept", 60)
        self.chrome.execute_script(WATCH)
        self.chrome.connect(True)
        self.chrome.execute_script("window.begun = performance.now(); window.dispatchEvent(new Event('focus'))")
        self.person.await_status("Saved", 120)
        taken, blocked, most, touched = self.chrome.execute_script(
            "return [performance.now() - begun, blocked, most, touched]")
        print(f"{CHANGES} changes at {TASKS} tasks: {taken / 1000:.1f} s, blocked {sum(blocked) / 1000:.2f} s, "
              f"at most {max(blocked, default=0):.0f} ms at a time, {most} requests at once, {touched} mutations")
        self.assertEqual(sum(task["completed"] for task in self.on_server()), CHANGES)
        self.assertLessEqual(most, MOST_AT_ONCE)
        self.assertGreater(most, 1)
        self.assertLess(touched, 12 * CHANGES)
        self.assertLess(sum(blocked), 3000)

    def test_a_long_list_over_a_slow_network_arrives(self):
        """The times of the page are a tenth here, so that the test need not last a minute."""
        self.fill_list([f"{number} {'x' * 4000}" for number in range(100)])
        self.chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const timeout = AbortSignal.timeout.bind(AbortSignal), later = window.setTimeout.bind(window);
            AbortSignal.timeout = (time) => timeout(time / 10);
            window.setTimeout = (action, time, ...rest) => later(action, time / 10, ...rest);"""})
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
        self.chrome.until(lambda: len(self.chrome.all("#rows > li")) == 100, "the list", 15)


if __name__ == "__main__":
    unittest.main()
