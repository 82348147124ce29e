"""The contract and the explanations are true to the server."""

import http.client
import os
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.parse

import yaml

import servers

ROOT = servers.ROOT
PUBLIC = ROOT / "Public"


class Problems(unittest.TestCase):
    """ProblemPageTests compares the page with the problems of the server."""

    def setUp(self):
        page = (PUBLIC / "problems.html").read_text()
        self.explained = set(re.findall(r'<section class="entry" id="([^"]+)"', page))
        self.contents = set(re.findall(r'<a href="#([^"]+)"', page)) - {"main"}

    def test_the_contents_lead_to_every_explanation(self):
        self.assertGreater(len(self.explained), 30)
        self.assertEqual(self.contents, self.explained)

    def test_codes_that_the_contract_names_exist(self):
        text = (PUBLIC / "openapi.yaml").read_text()
        named = set(re.findall(r"\b(?:auth|token|task|store|keys|request|server)\.[a-z_]+\b", text))
        self.assertEqual(named - self.explained, set())


class Contract(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = servers.shared()
        cls.token = cls.servers.token("bob@example.com")
        cls.contract = yaml.safe_load((PUBLIC / "openapi.yaml").read_text())

    def ask(self, method, path, **headers):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.servers.page).netloc, timeout=10)
        self.addCleanup(connection.close)
        connection.request(method, path, headers={key.replace("_", "-"): value for key, value in headers.items()})
        answer = connection.getresponse()
        return answer, answer.read()

    def test_it_is_openapi_3_1(self):
        from openapi_spec_validator import validate
        validate(self.contract)

    def test_every_file_of_the_page_is_served_as_what_it_is(self):
        types = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml",
                 ".yaml": "application/yaml", ".json": "application/json", ".png": "image/png",
                 ".webmanifest": "application/manifest+json"}
        files = [path for path in PUBLIC.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 10)
        for path in files:
            answer, body = self.ask("GET", f"/{path.relative_to(PUBLIC)}")
            self.assertEqual(answer.status, 200, path.name)
            self.assertEqual(answer.headers.get_content_type(), types[path.suffix], path.name)
            self.assertEqual(body, path.read_bytes(), path.name)
            again, _ = self.ask("GET", f"/{path.relative_to(PUBLIC)}", If_None_Match=answer.headers["ETag"])
            self.assertEqual(again.status, 304, path.name)

    def test_schemathesis_finds_nothing(self):
        """Thousands of requests made from the contract; every answer must be one that it describes."""
        command = [
            pathlib.Path(sys.executable).parent / "schemathesis",
            "--config-file", pathlib.Path(__file__).parent / "schemathesis.toml",
            "run", PUBLIC / "openapi.yaml", "--url", self.servers.page,
            "--header", f"Authorization: Bearer {self.token}", "--header", "Accept: application/json",
        ]
        leaving = self.servers.token("alice@example.com")
        here = str(pathlib.Path(__file__).parent)  # for the hooks
        done = subprocess.run(
            command, cwd=self.servers.folder, env={**os.environ, "PYTHONPATH": here, "LEAVING": leaving}, capture_output=True, text=True,
            timeout=540)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-6000:])
