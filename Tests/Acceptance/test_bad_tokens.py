"""Every bad token of the mock, sent to a server of all its services: each is answered as the mock's list says."""

import time
import unittest
import urllib.error
import urllib.request

import servers

EXTERNAL_ID = "4f5d1a2b-93c6-4e87-a1b0-2c3d4e5f6a7b"
ENTRA = "f4b51ca0-7d2e-4c3b-8a19-5e6f7d8c9b0a"
API_OF_EXTERNAL_ID = "8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f"
API_OF_ENTRA = "1e9f8d7c-6b5a-4f3e-8d2c-1b0a9f8e7d6c"


class BadTokens(unittest.TestCase):
    def setUp(self):
        self.servers = servers.shared()

    def settings(self):
        authority = self.servers.authority
        return {
            "TASKS_SOURCES": "ext,work",
            "TASKS_SOURCE_EXT_AUTHORITY": f"{authority}/{EXTERNAL_ID}",
            "TASKS_SOURCE_EXT_ISSUER": f"https://{EXTERNAL_ID}.ciamlogin.com/{EXTERNAL_ID}/v2.0",
            "TASKS_SOURCE_EXT_CLIENT_ID": API_OF_EXTERNAL_ID,
            "TASKS_SOURCE_WORK_AUTHORITY": f"{authority}/{ENTRA}",
            "TASKS_SOURCE_WORK_ISSUER": f"https://login.microsoftonline.com/{ENTRA}/v2.0",
            "TASKS_SOURCE_WORK_CLIENT_ID": API_OF_ENTRA,
        }

    def answer(self, page, token):
        request = urllib.request.Request(f"{page}/api/tasks", headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return f"{answer.status} -"
        except urllib.error.HTTPError as error:
            return f"{error.code} {error.read().decode().strip().rpartition('(')[2].rstrip(')')}"

    def await_keys(self, page, token):
        """Waits for the keys of a token's source: the server is ready when it has those of one source."""
        end = time.monotonic() + 30
        while self.answer(page, token).startswith("503 ") and time.monotonic() < end:
            time.sleep(0.05)

    def test_each_is_answered_as_the_mock_says(self):
        with self.servers.another_page(**self.settings()) as page:
            for profile in ["b2c", "external-id", "entra"]:
                good = self.servers.token("alice", profile=profile)
                self.await_keys(page, good)
                self.assertEqual(self.answer(page, good), "200 -", profile)
                with urllib.request.urlopen(f"{self.servers.authority}/_mock/token/bad?profile={profile}") as listed:
                    lines = listed.read().decode().splitlines()
                self.assertGreater(len(lines), 20)
                for line in lines:
                    name, status, code = line.split()[:3]
                    with self.subTest(profile=profile, bad=name):
                        token = self.servers.token("alice", profile=profile, bad=name)
                        self.assertEqual(self.answer(page, token), f"{status} {code}")


if __name__ == "__main__":
    unittest.main()
