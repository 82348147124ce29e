"""The contract and the explanations are true to the server."""

import html.parser
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
# Problem(status, "code", "title" — over one line or several.
PROBLEM = re.compile(r'Problem\(\s*(\d{3}),\s*"([^"]+)",\s*"([^"]+)"')
PROBLEM_SOURCES = [*ROOT.glob("Sources/Server/TaskAPI/*.swift"), *ROOT.glob("Sources/Core/HTTP/*.swift"),
                   *ROOT.glob("Sources/Programs/TaskServer/**/*.swift")]


class Explanations(html.parser.HTMLParser):
    """What problems.html says: the sections by their anchor, each with its status and its title."""

    def __init__(self, text):
        super().__init__()
        self.found = {}
        self.links = []
        self._section = None
        self._reads = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "section":
            self._section = self.found.setdefault(attributes["id"], {"badge": "", "entry-title": ""})
        if tag == "a":
            self.links.append(attributes["href"])
        self._reads = next((name for name in ["badge", "entry-title"] if name in attributes.get("class", "").split()), None)

    def handle_endtag(self, tag):
        self._reads = None

    def handle_data(self, text):
        if self._section is not None and self._reads:
            self._section[self._reads] += text


def problems_of_the_server():
    for path in PROBLEM_SOURCES:
        for status, code, title in PROBLEM.findall(path.read_text()):
            yield code, int(status), title


class Problems(unittest.TestCase):
    def test_every_problem_of_the_server_is_explained_and_no_other(self):
        explained = Explanations((PUBLIC / "problems.html").read_text()).found
        written = list(problems_of_the_server())
        self.assertGreater(len(written), 30)
        self.assertEqual(sorted({code for code, _, _ in written}), sorted(explained))
        for code, status, title in written:
            self.assertEqual(explained[code]["badge"], str(status), code)
            if code != "request.method":  # worded twice: by HTTP, and by the API
                self.assertEqual(explained[code]["entry-title"], title, code)

    def test_no_problem_is_written_in_a_way_that_this_check_cannot_read(self):
        for path in PROBLEM_SOURCES:
            text = re.sub(r"//.*", "", path.read_text())
            built = len(re.findall(r"(?<![\w.])Problem\(\s*[^)\s]", text))
            self.assertEqual(built, len(PROBLEM.findall(text)), path.name)

    def test_the_contents_lead_to_every_explanation(self):
        page = Explanations((PUBLIC / "problems.html").read_text())
        self.assertEqual({link[1:] for link in page.links if link.startswith("#")} - {"main"}, set(page.found))

    def test_every_reason_that_explain_token_names_is_explained(self):
        explained = set(re.findall(r"<code>(\w+)</code>", (PUBLIC / "problems.html").read_text()))
        for name in ["TokenRefusal", "CommonMistake"]:
            text = (ROOT / f"Sources/Core/Tokens/{name}.swift").read_text()
            codes = set(re.findall(r'case [.\w, ]+: "(\w+)"', text))
            self.assertGreater(len(codes), 10)
            self.assertEqual(codes - explained, set(), name)

    def test_codes_that_the_contract_names_exist(self):
        text = (PUBLIC / "openapi.yaml").read_text()
        known = {code for code, _, _ in problems_of_the_server()}
        named = set(re.findall(r"\b(?:auth|token|task|store|keys|request|server)\.[a-z_]+\b", text))
        self.assertEqual(named - known, set())


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
        here = str(pathlib.Path(__file__).parent)  # for the hooks
        done = subprocess.run(
            command, cwd=self.servers.folder, env={**os.environ, "PYTHONPATH": here}, capture_output=True, text=True,
            timeout=540)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-6000:])
