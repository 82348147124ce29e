"""The tests of Examples/tests pass with the runner of each language, each with a mock-authority and a task-server of its own."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "Examples/tests"
JARS = "'/usr/share/java/*'"  # where Debian has JUnit and what it needs


class Fixtures(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def pass_with(self, file, *command, says):
        """Runs the tests of a file; they must pass, and fail if the API accepts what it should refuse."""
        shutil.copy(TESTS / file, self.folder)
        done = self.run_in_folder(command)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, says)
        text = (TESTS / file).read_text()
        # The API takes a token with this name, so that the test fails unless it cannot.
        (self.folder / file).write_text(text.replace("bad-signature", "acr-only"))
        self.assertNotEqual(self.run_in_folder(command).returncode, 0)

    def run_in_folder(self, command):
        programs = f"{ROOT / '.build/debug'}:{os.environ['PATH']}"
        return subprocess.run(
            command, cwd=self.folder, env={**os.environ, "PATH": programs, "GOCACHE": str(self.folder / "go"), "GOFLAGS": "-mod=mod"},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)

    def test_each_has_60_lines_at_most(self):
        for file in TESTS.iterdir():
            self.assertLessEqual(len(file.read_text().splitlines()), 60, file)

    def test_the_page_names_each(self):
        page = (ROOT / "docs/mock-in-tests.md").read_text()
        for file in TESTS.iterdir():
            self.assertIn(f"(../Examples/tests/{file.name})", page)

    def test_the_requests_of_the_handler_for_dotnet(self):
        """Nothing here runs C#, so the flags and the request come from its text."""
        text = (TESTS / "Authority.cs").read_text()
        issuer = re.search('string issuer = "(.*?)"', text)[1]
        flags = re.findall('"([^"]*)"', re.search(r"new\[\] \{(.*?)\}", text)[1]) + [issuer]
        mock = subprocess.Popen([ROOT / ".build/debug/mock-authority", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ready = json.loads(mock.stdout.readline())
        field = re.search(r'"Forwarded", \$"(.*?)"', text)[1]
        for host, path, issuer in [
                ("contoso.b2clogin.com", "/contoso.onmicrosoft.com/b2c_1_sign_in", f"{issuer}/{ready['tenantID']}/v2.0/"),
                ("login.microsoftonline.com", f"/{ready['tenants'][2]['tenantID']}", ready["tenants"][2]["issuer"])]:
            request = urllib.request.Request(
                f"{ready['address']}{path}/v2.0/.well-known/openid-configuration", headers={"Forwarded": field.replace("{asked.Host}", host)})
            with urllib.request.urlopen(request, timeout=30) as answer:
                metadata = json.load(answer)
            self.assertEqual(metadata["issuer"], issuer)
            self.assertTrue(metadata["jwks_uri"].startswith(f"https://{host}/"), metadata)
        mock.communicate(timeout=60)  # closes its input, which ends it
        self.assertEqual(mock.returncode, 0)

    def test_python(self):
        self.pass_with("test_api.py", "/usr/bin/python3", "-B", "-m", "pytest", "-p", "no:cacheprovider", "test_api.py", says="1 passed")

    def test_go(self):
        self.pass_with("api_test.go", "go", "test", "-v", "api_test.go", says="--- PASS: TestAPI")

    def test_javascript(self):
        self.pass_with("api.test.mjs", "node", "--test", "api.test.mjs", says="pass [1-9]")

    def test_java(self):
        launcher = "org.junit.platform.console.ConsoleLauncher --scan-classpath classes --fail-if-no-tests"
        run = f"javac -cp {JARS} -d classes *.java && java -cp classes:{JARS} {launcher}"
        self.pass_with("ApiTest.java", "sh", "-c", run, says=r"4 tests successful")


if __name__ == "__main__":
    unittest.main()
