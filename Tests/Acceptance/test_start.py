"""The page starts from what the browser keeps, however late the network is, and always from files of one release."""

import contextlib
import http.client
import threading
import time
import urllib.parse

from browser import PATIENCE
from person import PageTest, Person, in_both_browsers
from servers import Handler, serving

LATE = 0.6  # seconds


# Tells when the page was at rest for as long as main.js waits (AT_REST) before it lets a newer worker take over.
REST = """
    const later = globalThis.setTimeout;
    globalThis.setTimeout = (action, time, ...rest) => later(() => {
      action(...rest);
      if (time === 5000) globalThis.isAtRest = true;
    }, time);"""


class Front(Handler):
    """Stands in front of the server, answers late, and lets each module say of which release it is."""

    late, release, next_after, answered = 0, 1, None, 0
    lock = threading.Lock()

    def forward(self):
        upstream = http.client.HTTPConnection(self.upstream)
        kept = {name: value for name, value in self.headers.items() if name.lower() != "accept-encoding"}
        upstream.request(self.command, self.path, self.rfile.read(int(self.headers.get("Content-Length", 0))) or None, kept)
        answer = upstream.getresponse()
        time.sleep(self.late)  # as a slow network is
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "etag"):
                self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):  # the page has gone
            while part := answer.read1(65536):
                self.wfile.write(part)
            if not self.path.startswith("/api/"):
                self.wfile.write(self.mark())
        upstream.close()

    def mark(self):
        """Returns what a module of the release has at its end. After some files a new release begins, with the others not yet read."""
        with self.lock:
            Front.answered += 1
            if self.answered == self.next_after:
                Front.release += 1
            mark = f"\n(globalThis.releaseOf ??= {{}})['{self.path}'] = {self.release};\n"
        return (mark + REST * (self.path == "/main.js")).encode() if self.path.endswith(".js") else b""

    do_GET = do_POST = do_PATCH = do_DELETE = forward


@in_both_browsers
class Start(PageTest):
    def setUp(self):
        super().setUp()
        self.expected = ["ERR_", "NetworkError"]
        Front.late, Front.release, Front.next_after = 0, 1, None
        Front.upstream = urllib.parse.urlsplit(self.servers.page).netloc
        self.person = Person(self.chrome, f"http://127.0.0.1:{self.enterContext(serving(Front))}")
        self.newcomer()
        self.person.save("Buy milk")
        self.await_worker()

    def open_again(self):
        """Opens the list in a new tab."""
        self.chrome.switch_to.new_window("tab")
        self.person.open()
        self.person.await_texts("Buy milk")

    def release(self):
        """Returns the release that all modules of the page have."""
        self.chrome.until(lambda: self.chrome.execute_script("return !window.isOld && '/person.js' in releaseOf"), "the last module")
        found = self.chrome.execute_script("return releaseOf")
        self.assertEqual(len(set(found.values())), 1, list(found.items()))
        return found["/main.js"]

    def await_release(self, release):
        """Reloads the page until it has this release; until then, all of it is of one before."""
        last = time.monotonic() + PATIENCE
        while self.release() != release:
            self.assertLess(time.monotonic(), last, f"waited for release {release}")
            self.chrome.execute_script("window.isOld = true")
            self.chrome.reload()

    def await_rest_elsewhere(self):
        """Waits until the other tabs let no newer worker take over any more: what Firefox loads meanwhile may come from the network."""
        here = self.chrome.current_window_handle
        for tab in self.chrome.window_handles:
            if tab != here:
                self.chrome.switch_to.window(tab)
                self.chrome.until(lambda: self.chrome.execute_script("return window.isAtRest"), "the other tab to be at rest")
        self.chrome.switch_to.window(here)

    def seconds(self):
        """Returns how long it takes until the list is there, at its shortest."""
        def once():
            begin = time.monotonic()
            self.open_again()
            return time.monotonic() - begin
        return min(once() for _ in range(3))

    def test_a_late_network_is_not_waited_for(self):
        prompt = self.seconds()
        Front.late = LATE
        late = self.seconds()
        print(f"{self.browser_type.__name__}: the list after {late:.2f} s with a late network, {prompt:.2f} s with a prompt one")
        self.assertLess(late, prompt + 4 * LATE)

    def test_a_page_has_files_of_one_release(self):
        Front.release = 2
        self.open_again()
        self.assertEqual(self.release(), 1)
        old = self.chrome.current_window_handle
        self.open_again()
        self.await_rest_elsewhere()
        self.await_release(2)
        Front.next_after = Front.answered + 10
        self.await_release(3)
        is_taken = """
            const [done] = arguments;
            navigator.serviceWorker.getRegistration().then(({ installing, waiting }) => done(!installing && !waiting));"""
        self.chrome.until(lambda: self.chrome.execute_async_script(is_taken), "the newest worker to take over, since the page is at rest")
        self.chrome.switch_to.window(old)
        self.person.open_account()
        self.assertEqual(self.release(), 1)
