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
from jsonschema import Draft202012Validator

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


class Linters(unittest.TestCase):
    """What spectral and redocly warned of, which neither Debian nor PyPI has; their files are .spectral.yaml and redocly.yaml."""

    def setUp(self):
        self.text = (PUBLIC / "openapi.yaml").read_text()
        self.contract = yaml.safe_load(self.text)
        self.operations = [(f"{method} {path}", operation) for path, methods in self.contract["paths"].items()
                           for method, operation in methods.items()]

    def test_each_operation_is_described_and_may_be_refused(self):
        tags = {tag["name"] for tag in self.contract["tags"]}
        self.assertGreater(len(self.operations), 15)
        for name, operation in self.operations:
            with self.subTest(name):
                self.assertTrue(operation["summary"] and operation["description"] and operation["operationId"])
                self.assertTrue(operation["tags"] and tags.issuperset(operation["tags"]))
                self.assertEqual([code[0] for code in operation["responses"]].count("2"), 1, "one success")
                self.assertIn("4", [code[0] for code in operation["responses"]])

    def test_the_license_is_named(self):
        self.assertEqual(self.contract["info"]["license"], {"name": "MIT", "identifier": "MIT"})

    def test_each_component_is_used(self):
        for kind in set(self.contract["components"]) - {"securitySchemes"}:
            for name in self.contract["components"][kind]:
                self.assertIn(f"'#/components/{kind}/{name}'", self.text)

    def test_each_example_fits_its_schema(self):
        examples = list(self.examples(self.contract))
        self.assertGreater(len(examples), 10)
        for schema, example in examples:
            Draft202012Validator({**schema, "components": self.contract["components"]}).validate(example)

    def examples(self, value):
        if isinstance(value, dict):
            if "example" in value:
                yield value.get("schema", value), value["example"]
            value = value.values()
        if not isinstance(value, str) and hasattr(value, "__iter__"):
            for each in value:
                yield from self.examples(each)

    def test_bodies_of_requests_have_no_other_members(self):
        """So a generated client does not compile with `complete`, which the server would ignore."""
        schemas = self.contract["components"]["schemas"]
        for name in ("NewTask", "TaskPatch", "TaskChange", "TaskReplacement"):
            self.assertIs(schemas[name]["additionalProperties"], False, name)
            for member in {"completed", "position"}:
                schema = schemas[name]["properties"][member]
                schema = schemas["TaskPosition"] if "$ref" in schema else schema
                self.assertIn("null", schema["type"], f"{name}.{member}: NSwag would send 0 or false for what is not set")


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
