"""Readers that ignore case, as PowerShell's and .NET's strict one do, get each value once."""

import http.client
import json
import unittest
import urllib.parse

import servers

ONE = {"Accept": "application/json; names=one"}
NAMES = ["Id", "owner", "task", "completed", "date", "DateModified", "revision", "due"]


def unique(members):
    """Returns an object as such a reader takes it, which refuses names that differ only in case."""
    found = {}
    for name, value in members:
        if name.lower() in map(str.lower, found):
            raise ValueError(f"{name} is there twice")
        found[name] = value
    return found


def read(text):
    return json.loads(text, object_pairs_hook=unique)


class OneName(unittest.TestCase):
    def setUp(self):
        self.token = servers.shared().token("alice@example.com")
        servers.shared().remove_tasks("alice@example.com")

    def send(self, method, path, body=None, headers=ONE, status=200):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(servers.shared().page).netloc, timeout=30)
        self.addCleanup(connection.close)
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        self.assertEqual(answer.status, status)
        if "event-stream" in answer.headers["Content-Type"]:
            lines = (answer.readline().decode() for _ in range(20))
            return answer, next(line for line in lines if line.startswith("data: ")).removeprefix("data: ")
        return answer, answer.read().decode()

    def test_every_answer_with_tasks(self):
        _, text = self.send("POST", "/api/tasks", {"task": "Buy milk", "due": "2026-12-24"}, status=201)
        id = read(text)["Id"]
        path = f"/api/tasks/{id}"
        stream = {"Accept": "text/event-stream; names=one"}
        for method, target, body, headers, found in [
            ("POST", "/api/tasks", {"task": "Buy bread", "due": "2026-12-24"}, ONE, lambda task: [task]),
            ("GET", path, None, ONE, lambda task: [task]),
            ("PATCH", path, {"completed": True}, ONE, lambda task: [task]),
            ("PATCH", "/api/tasks", [{"id": id, "completed": False}], ONE, list),
            ("GET", "/api/tasks", None, ONE, list), ("GET", "/api/tasks", None, ONE, list), ("GET", "/api/tasks?limit=1", None, ONE, list),
            ("GET", "/api/tasks/changes", None, ONE, lambda page: page["changed"]),
            ("GET", "/api/tasks/changes", None, stream, lambda page: page["changed"]),
            ("GET", "/api/me/export", None, ONE, lambda document: document["tasks"]),
        ]:
            with self.subTest(f"{method} {target} {headers['Accept']}"):
                answer, text = self.send(method, target, body, headers, 201 if method == "POST" else 200)
                self.assertIn("Accept", answer.headers["Vary"].split(", "))
                tasks = found(read(text))
                self.assertTrue(tasks)
                for task in tasks:
                    self.assertEqual(list(task), NAMES)

    def test_each_form_has_its_tag_however_often_they_take_turns(self):
        _, text = self.send("POST", "/api/tasks", {"task": "Buy milk"}, status=201)
        for path in [f"/api/tasks/{read(text)['Id']}", "/api/tasks"]:
            tags = set()
            for headers in [ONE, {}, {}, {"Accept": "text/html, application/json; q=0.9; NAMES=one"}, ONE]:
                answer, text = self.send("GET", path, headers=headers)
                self.assertEqual('"Owner"' in text, not headers)
                tags.add((answer.headers["ETag"], bool(headers)))
                self.send("GET", path, headers={**headers, "If-None-Match": answer.headers["ETag"]}, status=304)
            self.assertEqual(len(tags), 2)
            other = next(tag for tag, is_one in tags if not is_one)
            self.send("GET", path, headers={**ONE, "If-None-Match": other})

    def test_a_change_is_guarded_by_the_tag_of_either_form(self):
        answer, text = self.send("POST", "/api/tasks", {"task": "Buy milk"}, status=201)
        path = f"/api/tasks/{read(text)['Id']}"
        self.assertRegex(answer.headers["ETag"], r'^"\d+\.1-one"$')
        self.send("PATCH", path, {"task": "Buy bread"}, {"If-Match": answer.headers["ETag"]})
        self.send("PATCH", path, {"task": "Buy cake"}, {**ONE, "If-Match": answer.headers["ETag"]}, 412)
