"""A client that a generator makes from the contract works: it sends and reads every field, and returns errors instead of raising them.

test_contract tries what the operations answer; here is only what a generator can get wrong.
"""

import datetime
import importlib
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

    def client_with(self, token):
        """Strict: a status that the contract does not list is raised."""
        made = importlib.import_module("tasks_client").AuthenticatedClient(
            base_url=self.servers.page, token=token, raise_on_unexpected_status=True)
        self.addCleanup(made.get_httpx_client().close)
        return made

    def call(self, operation, *arguments, client=None, **named):
        module = importlib.import_module(f"tasks_client.api.tasks.{operation}")
        return module.sync_detailed(*arguments, client=client or self.client, **named)

    def add(self, text="Buy milk"):
        answer = self.call("add_task", body=self.models.NewTask(task=text))
        self.assertEqual(answer.status_code, 201)
        return answer.parsed

    def test_what_is_given_arrives_and_comes_back_with_its_types(self):
        task = self.add("Milch kaufen ✓")
        self.assertIsInstance(task, self.models.Task)
        self.assertEqual((task.id, task.task, task.text, task.completed), (1, "Milch kaufen ✓", "Milch kaufen ✓", False))
        self.assertEqual(task.date.utcoffset().total_seconds(), 0)
        self.call("add_task", body=self.models.NewTask(task="done", completed=True))
        self.assertEqual([each.id for each in self.call("list_tasks").parsed], [1, 2])
        self.assertEqual([each.id for each in self.call("list_tasks", completed=True).parsed], [2])
        page = self.call("list_tasks", limit=1, after=0)
        self.assertEqual(([each.id for each in page.parsed], page.headers["Link"]),
                         ([1], '</api/tasks?limit=1&after=1>; rel="next"'))

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

    def test_forms_arrive_too(self):
        made = self.call("add_task", body=self.models.NewTaskForm(task="Buy milk", completed="true")).parsed
        self.assertEqual((made.task, made.completed), ("Buy milk", True))
        form = self.models.TaskPatchForm(completed=self.models.TaskPatchFormCompleted.FALSE)
        self.assertIs(self.call("change_task", 1, body=form).parsed.completed, False)

    def test_errors_are_told_and_not_raised(self):
        self.add()
        stranger = self.client_with("not.a.token")
        self.assert_told(self.call("get_task", 2), 404, "task.not_found")
        self.assert_told(self.call("change_task", 1, body=self.models.TaskPatch(notes="x" * 10001)), 422, "task.detail")
        self.assert_told(self.call("delete_task", 1, client=stranger), 401, "token.invalid")

    def assert_told(self, answer, status, code):
        """A line of text, as the contract lists it first and the server sends it to who asks for nothing."""
        self.assertEqual(answer.status_code, status)
        self.assertIsInstance(answer.parsed, str)
        self.assertRegex(answer.parsed, rf"\({re.escape(code)}\)\n$")


if __name__ == "__main__":
    unittest.main()
