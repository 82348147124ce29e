"""The Python of docs/connect-a-client.md, as it stands there: the sign-in, and each decision that the comments of the client name."""

import re
import secrets
import unittest
import urllib.error
import uuid

import requests

import servers

PAGE = (servers.ROOT / "docs/connect-a-client.md").read_text()
SIGN_IN, CODE = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


class DocumentedSignIn(unittest.TestCase):
    def setUp(self):
        self.servers, self.scope = servers.shared(), {}
        code = SIGN_IN.replace("http://127.0.0.1:3001", self.servers.authority)
        exec(compile(code, "docs/connect-a-client.md", "exec"), self.scope)

    def signed_in(self, address):
        """The address to which the authority leads after the password."""
        with requests.Session() as browser:
            action, form = servers.filled_in(browser.get(address, timeout=20).text, address)
            return browser.post(action, form, allow_redirects=False, timeout=20).headers["Location"]

    def test_a_person_signs_in_and_the_token_is_renewed(self):
        verifier, state = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        address = self.signed_in(self.scope["begin"](verifier, state))
        self.assertTrue(address.startswith("http://localhost:8400/?"), address)
        self.assertFalse(self.scope["finish"](address, verifier, "another"))
        first = self.scope["finish"](address, verifier, state)
        second = self.scope["tokens"](grant_type="refresh_token", refresh_token=first["refresh_token"])
        for answer in (first, second):
            self.assertIsInstance(self.servers.request("GET", "/api/tasks", token=answer["access_token"]), list)
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.scope["finish"](address, verifier, state)  # a code is good once
        caught.exception.close()


class DocumentedClient(unittest.TestCase):
    def setUp(self):
        self.servers = servers.shared()
        self.scope = {}
        exec(compile(CODE, "docs/connect-a-client.md", "exec"), self.scope)
        self.user = f"client-{uuid.uuid4()}@example.com"
        self.servers.control(f"users/{self.user}", {}, "PUT")
        self.tokens = [self.servers.token(self.user, bad="expired"), self.servers.token(self.user)]

    def client(self, server=None):
        def token(renew=False):
            if renew:
                self.tokens.pop(0)
            return self.tokens[0]
        return self.scope["Tasks"](server or self.servers.page, token)

    def status(self, work):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            work()
        caught.exception.close()
        return caught.exception.code

    def test_two_devices_agree(self):
        phone, desk = self.client(), self.client()
        key = str(uuid.uuid4())
        first, again = phone.add("Buy milk", key), phone.add("Buy milk", key)  # the first renews the expired token
        self.assertEqual((first["Id"], len(self.tokens)), (again["Id"], 1))
        self.assertEqual([task["task"] for task in desk.read().values()], ["Buy milk"])
        self.assertIs(desk.read(), desk.known)  # by 304
        tag = desk.call("GET", f"/api/tasks/{first['Id']}")[0]["ETag"]
        self.assertTrue(phone.change(first["Id"], tag, completed=True)["completed"])
        self.assertEqual(self.status(lambda: desk.change(first["Id"], tag, task="Buy bread")), 412)
        phone.delete(first["Id"])
        desk.delete(first["Id"])
        self.assertEqual(desk.read(), {})
        self.assertEqual(self.status(lambda: desk.change(first["Id"], tag, task="Buy bread")), 412)

    def test_a_list_in_pages_is_whole_and_a_busy_server_is_asked_again(self):
        with self.servers.another_page(TASKS_ANSWER_MEMORY="1MiB", TASKS_RATE_LIMIT="20") as page:
            client = self.client(page)
            for number in range(40):
                client.add("x" * 4000, f"key-{number}")  # more than the rate allows at once
            self.assertIsNotNone(client.call("GET", "/api/tasks")[0]["Link"])
            self.assertEqual(len(client.read()), 40)
            self.assertIsNone(client.tag)
