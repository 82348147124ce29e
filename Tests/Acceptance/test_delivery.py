"""What the page costs, whom it asks, and what it may do."""

import gzip
import urllib.parse
import urllib.request

import axe
from person import PageTest

FIRST_LOAD = 40_000  # bytes, heads and bodies
FIRST_LOAD_BODIES = 20_000  # bytes
LIST_BODIES = 84_000  # bytes


class Delivery(PageTest):
    def test_the_first_load_is_small(self):
        self.chrome.execute_cdp_cmd("Network.enable", {})
        self.person.open()
        self.chrome.until(lambda: self.chrome.all("#policies button"), "the policies")
        received = self.chrome.received()
        self.assertGreater(received, 5_000)
        self.assertLess(received, FIRST_LOAD)
        self.assertLess(self.bodies(), FIRST_LOAD_BODIES)

    def test_the_list_is_small(self):
        self.newcomer()
        self.assertLess(self.bodies(), LIST_BODIES)

    def bodies(self):
        """The bytes of all files of the page that were asked for, as compressed as the server gives them."""
        addresses = {request["url"].partition("?")[0].partition("#")[0] for request in self.chrome.requests()}
        later = ("/worker.js", "/person.js")  # behind the list, the second from what the worker has
        files = {address for address in addresses
                 if address.startswith(self.servers.page) and "/api/" not in address and not address.endswith(later)}
        self.assertGreater(len(files), 5)
        total = 0
        for address in files:
            with urllib.request.urlopen(address) as answer:
                plain = answer.read()
                self.assertIsNone(answer.headers["Content-Encoding"])
            with urllib.request.urlopen(urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})) as answer:
                body = answer.read()
                self.assertEqual(gzip.decompress(body) if answer.headers["Content-Encoding"] else body, plain)
            total += len(body)
        return total

    def test_only_this_server_and_the_authority_are_asked(self):
        known = {urllib.parse.urlsplit(url).netloc for url in [self.servers.page, self.servers.authority]}
        self.newcomer()
        self.person.save("Buy milk")
        self.person.sign_out()
        for path in ["/api.html", "/problems.html"]:
            self.person.open(path)
        hosts = {urllib.parse.urlsplit(request["url"]).netloc for request in self.chrome.requests()
                 if request["url"].startswith("http")}
        self.assertEqual(hosts, known)

    def test_nothing_inline_runs(self):
        """The policy of the server, held against what it must keep out."""
        self.expected = ["Content Security Policy"]
        self.person.open()
        self.person.await_welcome()
        with urllib.request.urlopen(self.servers.page) as answer:
            policy = answer.headers["Content-Security-Policy"]
            self.assertEqual(answer.headers["Cross-Origin-Opener-Policy"], "same-origin")
        self.assertIn("script-src 'self';", policy)
        self.assertIn("style-src 'self';", policy)
        self.assertNotIn("unsafe", policy)
        self.chrome.execute_script("""
            const script = document.createElement("script");
            script.textContent = "window.ranInline = true";
            document.body.append(script);
            const style = document.createElement("style");
            style.textContent = "body { --inline: yes }";
            document.body.append(style);""")
        self.assertIsNone(self.chrome.execute_script("return window.ranInline ?? null"))
        self.assertEqual(
            self.chrome.execute_script("return getComputedStyle(document.body).getPropertyValue('--inline')"), "")
        refused = self.chrome.execute_async_script("""
            const done = arguments[0];
            addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
            fetch("http://127.0.0.1:8/").catch(() => setTimeout(() => done("not by the policy"), 1000));""")
        self.assertEqual(refused, "connect-src")

    def test_a_wrong_address_leads_back_to_the_start(self):
        self.expected = ["404"]
        self.person.open("/old/%3Cb%3Esecret-path%3C/b%3E?next=%3Cscript%3E#/x")
        self.assertEqual(self.chrome.words("h1"), "There is nothing at this address")
        self.assertNotIn("secret-path", self.chrome.execute_script("return document.documentElement.outerHTML"))
        axe.check_looks(self, "404.html")
        self.chrome.one("#start").click()
        self.person.await_welcome()
