"""A client that a generator makes from the contract works: fields arrive, and errors are told instead of raised."""

import datetime
import importlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import servers

# No other programs are run on what is generated, and YAML is a text for it; the generator then warns of nothing.
CONFIGURATION = """
post_hooks: []
content_type_overrides:
  application/yaml: text/plain
"""


class GeneratedClient(unittest.TestCase):
    """openapi-python-client, which reads the contract strictly and drops what it does not understand."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tasks-client-")
        cls.addClassCleanup(folder.cleanup)
        configuration = pathlib.Path(folder.name) / "configuration.yaml"
        configuration.write_text(CONFIGURATION)
        done = subprocess.run(
            [pathlib.Path(sys.executable).parent / "openapi-python-client", "generate", "--fail-on-warning",
             "--meta", "none", "--config", configuration, "--path", servers.ROOT / "Public/openapi.yaml",
             "--output-path", pathlib.Path(folder.name) / "tasks_client"],
            capture_output=True, text=True, timeout=120)
        cls.generation = done
        sys.path.insert(0, folder.name)
        cls.addClassCleanup(sys.path.remove, folder.name)
        cls.servers = servers.shared()

    def setUp(self):
        self.assertEqual(self.generation.returncode, 0, self.generation.stdout + self.generation.stderr)
        self.models = importlib.import_module("tasks_client.models")
        self.unset = importlib.import_module("tasks_client.types").UNSET
        user = f"{self._testMethodName.replace('_', '-')[:40]}@example.com"
        account = urllib.request.Request(
            f"{self.servers.authority}/_mock/users/{user}", method="PUT", data=b'{"name":"A client"}',
            headers={"Content-Type": "application/json"})
        urllib.request.urlopen(account, timeout=5).close()
        self.client = self.client_with(self.servers.token(user))

    def client_with(self, token, **headers):
        """Strict: a status that the contract does not list is raised."""
        made = importlib.import_module("tasks_client").AuthenticatedClient(
            base_url=self.servers.page, token=token, raise_on_unexpected_status=True, headers=headers)
        self.addCleanup(made.get_httpx_client().close)
        return made

    def call(self, operation, *arguments, client=None, tag="tasks", **named):
        module = importlib.import_module(f"tasks_client.api.{tag}.{operation}")
        return module.sync_detailed(*arguments, client=client or self.client, **named)

    def add(self, text="Buy milk", **named):
        answer = self.call("add_task", body=self.models.NewTask(task=text), **named)
        self.assertEqual(answer.status_code, 201)
        return answer.parsed

    def test_what_is_given_arrives_and_comes_back_with_its_types(self):
        task = self.add("Milch kaufen ✓")
        self.assertIsInstance(task, self.models.Task)
        self.assertEqual((task.id, task.task, task.text, task.completed), (1, "Milch kaufen ✓", "Milch kaufen ✓", False))
        self.assertEqual(task.date.utcoffset().total_seconds(), 0)
        done = self.call("add_task", body=self.models.NewTask(task="done", completed=True)).parsed
        self.assertIs(done.completed, True)
        self.assertEqual(self.call("get_task", 1).parsed, task)
        self.assertEqual([each.id for each in self.call("list_tasks").parsed], [1, 2])
        self.assertEqual([each.id for each in self.call("list_tasks", completed=True).parsed], [2])
        page = self.call("list_tasks", limit=1, after=0)
        self.assertEqual(([each.id for each in page.parsed], page.headers["Link"]),
                         ([1], '</api/tasks?limit=1&after=1>; rel="next"'))
        self.assertEqual(self.call("who_am_i", tag="me").parsed.owner, task.owner)

    def test_the_bodies_of_patch_and_put_are_not_lost(self):
        self.add()
        patched = self.call("change_task", 1, body=self.models.TaskPatch(completed=True)).parsed
        self.assertEqual((patched.task, patched.completed), ("Buy milk", True))
        patched = self.call("change_task", 1, body=self.models.TaskPatch(task="Buy bread")).parsed
        self.assertEqual((patched.task, patched.completed), ("Buy bread", True))
        replaced = self.call("replace_task", 1, body=self.models.TaskReplacement(task="Buy both", completed=False)).parsed
        self.assertEqual((replaced.task, replaced.completed), ("Buy both", False))

    def test_details_arrive_are_kept_and_are_removed(self):
        bare = self.add("bare")
        self.assertEqual((bare.due, bare.notes, bare.position), (self.unset, self.unset, self.unset))
        details = {"due": datetime.date(2026, 11, 30), "notes": "two\nlines", "position": 1.5}
        full = self.call("add_task", body=self.models.NewTask(task="full", **details)).parsed
        self.assertEqual((full.due, full.notes, full.position), tuple(details.values()))
        self.assertEqual(self.call("list_tasks").parsed, [bare, full])
        replaced = self.call("replace_task", 2, body=self.models.TaskReplacement(task="again")).parsed
        self.assertEqual((replaced.due, replaced.notes, replaced.position), tuple(details.values()))
        patched = self.call("change_task", 2, body=self.models.TaskPatch(due=None, position=3)).parsed
        self.assertEqual((patched.due, patched.notes, patched.position), (self.unset, "two\nlines", 3))
        form = self.models.TaskPatchForm(due="2027-01-31", notes="", position="2.5")
        changed = self.call("change_task", 2, body=form).parsed
        self.assertEqual((changed.due, changed.notes, changed.position), (datetime.date(2027, 1, 31), self.unset, 2.5))
        self.assert_told(self.call("change_task", 2, body=self.models.TaskPatch(notes="x" * 10001)), 422, "task.detail")

    def test_forms_arrive_too(self):
        made = self.call("add_task", body=self.models.NewTaskForm(task="Buy milk", completed="true")).parsed
        self.assertEqual((made.task, made.completed), ("Buy milk", True))
        form = self.models.TaskPatchForm(completed=self.models.TaskPatchFormCompleted.FALSE)
        self.assertIs(self.call("change_task", 1, body=form).parsed.completed, False)

    def test_every_way_to_delete(self):
        for text in ["a", "b", "c", "c"]:
            self.add(text)
        self.assertEqual(self.call("delete_task", 1).status_code, 204)
        self.assertEqual(self.call("delete_task", 1).status_code, 204)
        self.assertEqual(self.call("delete_by_text", body=self.models.TextOnly(task="c")).status_code, 204)
        self.assertEqual([each.text for each in self.call("list_tasks").parsed], ["b"])
        self.assertEqual(self.call("delete_by_path", "me", "b").status_code, 204)
        self.assertEqual(self.call("list_tasks").parsed, [])

    def test_a_retry_with_its_key_adds_nothing(self):
        first = self.add("once", idempotency_key="8e03978e-40d5")
        self.assertEqual(self.add("once", idempotency_key="8e03978e-40d5"), first)
        reused = self.call("add_task", body=self.models.NewTask(task="twice"), idempotency_key="8e03978e-40d5")
        self.assert_told(reused, 422, "request.idempotency_key_reused")

    def test_errors_are_told_and_not_raised(self):
        self.add()
        patch, text = self.models.TaskPatch(completed=True), self.models.NewTask
        self.assert_told(self.call("get_task", 2), 404, "task.not_found")
        self.assert_told(self.call("change_task", -1, body=patch), 404, "task.not_found")
        self.assert_told(self.call("change_task", 1, body=patch, if_match='"1.9"'), 412, "task.changed")
        self.assert_told(self.call("change_task", "me", body=patch), 405, "request.method")
        self.assert_told(self.call("add_task", body=text(task="x" * 4097)), 400, "task.too_long")
        self.assert_told(self.call("add_task", body=text(task="x" * 70000)), 413, "request.body_too_large")
        self.assert_told(self.call("add_task", body=text()), 409, "MissingTask")
        self.assert_told(self.call("list_tasks", limit=0), 400, "request.query")
        stranger = self.client_with("not.a.token")
        for answer in [self.call("list_tasks", client=stranger), self.call("who_am_i", client=stranger, tag="me"),
                       self.call("add_task", client=stranger, body=text(task="x")), self.call("delete_task", 1, client=stranger)]:
            self.assert_told(answer, 401, "token.invalid")

    def test_what_the_http_library_says_itself_is_not_raised_either(self):
        answer = self.call("list_tasks", client=self.client_with("x" * 20_000))
        self.assertEqual((answer.status_code, answer.parsed), (431, None))

    def test_who_asks_for_json_gets_a_problem(self):
        for accept in ["application/json", "application/*"]:
            client = self.client_with(self.client.token, Accept=accept)
            answer = self.call("get_task", 2, client=client)
            self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
            problem = self.models.Problem.from_dict(json.loads(answer.parsed))
            self.assertEqual((problem.status, problem.code), (404, "task.not_found"))

    def assert_told(self, answer, status, code):
        """A line of text, as the contract lists it first and the server sends it to who asks for nothing."""
        self.assertEqual(answer.status_code, status)
        self.assertIsInstance(answer.parsed, str)
        self.assertRegex(answer.parsed, rf"\({re.escape(code)}\)\n$")


if __name__ == "__main__":
    unittest.main()
