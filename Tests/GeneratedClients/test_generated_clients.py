"""Clients that openapi-generator makes of the contract compile, and go through a journey with both programs.

Each journey adds, changes with an ETag, changes many tasks at once, pages, deletes, and reads refusals as typed problems. The person signs
in at the mock. Debian has no compiler for what is generated for Kotlin and C#, so their sources are only searched for names that are given twice.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Acceptance"))

import servers  # noqa: E402

BUILD = servers.ROOT / ".build/clients"
PERSON = "alice@example.com"
PATIENCE = 600  # seconds for each command
# The properties of a map, which every model for Kotlin is, too.
MAP = {"entries", "keys", "size", "values"}


def run(command, folder, **environment):
    """Returns what a command prints."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}:\n{(done.stdout + done.stderr)[-6000:]}")
    return done.stdout


def generate(generator, **properties):
    """Makes a client. Returns its folder."""
    folder = BUILD / generator
    shutil.rmtree(folder, ignore_errors=True)
    options = ",".join(f"{name}={value}" for name, value in properties.items())
    run([BUILD / "venv/bin/openapi-generator-cli", "generate", "-i", servers.ROOT / "Public/openapi.yaml", "-g", generator, "-o", folder,
         f"--additional-properties={options}"], BUILD)
    return folder


def twice(names):
    return sorted({name for name in names if names.count(name) > 1})


class Journeys(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = servers.shared()

    def sign_in(self):
        """Returns an access token that the mock gives for the person's password."""
        order = {"grant_type": "password", "client_id": servers.CLIENT, "username": PERSON, "password": servers.PASSWORD,
                 "scope": f"openid {servers.CLIENT}"}
        url = f"{self.servers.authority}/{servers.TENANT}/b2c_1_ropc/oauth2/v2.0/token"
        with urllib.request.urlopen(url, urllib.parse.urlencode(order).encode(), timeout=10) as answer:
            return json.loads(answer.read())["access_token"]

    def travel(self, command, folder, **environment):
        self.servers.remove_tasks(PERSON)
        run(command, folder, TASKS_URL=self.servers.page, ACCESS_TOKEN=self.sign_in(), **environment)

    def test_swift(self):
        generate("swift6", library="urlsession", projectName="Todo")
        folder = BUILD / "swift6-journey"
        shutil.copytree(HERE / "swift", folder, dirs_exist_ok=True)
        (folder / "Sources/Documented").mkdir(exist_ok=True)
        (folder / "Sources/Documented/main.swift").write_text(self.documented_app())
        run(["swift", "build"], folder)
        self.travel([folder / ".build/debug/Journey"], folder)
        self.servers.request("POST", "/api/tasks", {"task": "Buy milk"}, PERSON)
        self.assertEqual(run([folder / ".build/debug/Documented"], folder, ACCESS_TOKEN=self.sign_in()), "Buy milk\n")

    def documented_app(self):
        """Returns a program with the three lines of docs/connect-a-client.md, which prints the text of each task."""
        lines = re.search(r"^```swift\n((?:.*\n){3})```", (servers.ROOT / "docs/connect-a-client.md").read_text(), re.MULTILINE)[1]
        return ('import Foundation\nimport Todo\nlet accessToken = ProcessInfo.processInfo.environment["ACCESS_TOKEN"]!\n'
                + lines.replace("http://127.0.0.1:3000", self.servers.page) + "for task in tasks { print(task.task) }\n")

    def test_typescript(self):
        folder = generate("typescript-fetch", npmName="todo")
        run(["tsc"], folder)
        shutil.copy(HERE / "journey.ts", folder)
        run(["tsc", "--strict", "--target", "es2020", "--lib", "es2020,dom", "--module", "commonjs", "journey.ts"], folder)
        self.travel(["node", "journey.js"], folder)

    def test_go(self):
        folder = generate("go", packageName="todo", withGoMod="false", generateInterfaces="false")
        (folder / "go.mod").write_text("module todo\n")
        shutil.rmtree(folder / "test")  # needs a module from the network
        (folder / "journey").mkdir()
        shutil.copy(HERE / "journey.go", folder / "journey")
        run(["go", "build", "-o", "journey/journey", "./journey"], folder, GOPROXY="off", GOFLAGS="-mod=mod")
        self.travel([folder / "journey/journey"], folder)

    def test_python(self):
        folder = generate("python", packageName="todo")
        self.travel([BUILD / "venv/bin/python", HERE / "journey.py"], folder, PYTHONPATH=str(folder))


class Names(unittest.TestCase):
    def models(self, folder, pattern, member):
        """Yields each class with the names of its members."""
        found = [path.read_text() for path in folder.glob(pattern)]
        classes = [re.search(r"^ *(?:public partial |data )?class (\w+)", text, re.MULTILINE)[1] for text in found]
        self.assertGreaterEqual(len(classes), 8)
        # Some file systems do not tell Task.kt from task.kt.
        self.assertEqual(twice([name.lower() for name in classes]), [])
        for name, text in zip(classes, found):
            members = re.findall(member, text, re.MULTILINE)
            self.assertTrue(members, name)
            yield name, members

    def test_kotlin(self):
        models = self.models(generate("kotlin"), "src/main/**/models/*.kt", r"^    val (\w+):")
        for name, members in models:
            self.assertEqual((twice(members), MAP & set(members)), ([], set()), name)

    def test_csharp(self):
        models = self.models(generate("csharp"), "src/Org.OpenAPITools/Model/*.cs", r"^        public (?!override)[\w<>?, ]+ (\w+) \{ get")
        for name, members in models:
            self.assertEqual((twice(members), name in members), ([], False), name)
