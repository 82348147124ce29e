"""docs/mock-authority.md, run: every `$ ` line of its console blocks, in order, against a mock of its own."""

import os
import re
import subprocess
import tempfile
import time
import unittest

from servers import ROOT, answers, free_port

DOCUMENT = ROOT / "docs/mock-authority.md"


def steps(text):
    """Pairs of a command and what it is said to print."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in found]


def matches(shown, printed):
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, printed.rstrip("\n"), re.S) is not None


class Mock:
    """`mock-authority` on a free port, without the environment of the tests."""

    def __init__(self, test, **settings):
        self.port = free_port()
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("TASKS_", "MOCK_"))}
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [ROOT / ".build/debug/mock-authority"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env={**kept, "MOCK_LISTEN": f"127.0.0.1:{self.port}", **settings})
        test.addCleanup(self.stop)
        end = time.monotonic() + 60
        while not answers(f"http://127.0.0.1:{self.port}/_mock/token/bad"):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("mock-authority ended by itself, or did not answer within a minute")
            time.sleep(0.05)

    def run(self, command):
        command = re.sub(r"\b3001\b", str(self.port), command)
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
        return (done.stdout + done.stderr).replace(f":{self.port}", ":3001")

    def stop(self):
        self.process.terminate()
        self.process.wait(15)
        self.log.close()


class Controls(unittest.TestCase):
    def test_every_example_prints_what_is_shown(self):
        mock = Mock(self)
        found = steps(DOCUMENT.read_text())
        self.assertGreater(len(found), 20)
        for command, shown in found:
            with self.subTest(command):
                printed = mock.run(command)
                self.assertTrue(matches(shown, printed), f"shown:   {shown}\nprinted: {printed}")

    def test_the_example_of_a_configuration_is_taken(self):
        text = re.search(r"^```json\n(.*?)^```", DOCUMENT.read_text(), re.M | re.S)[1]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            mock = Mock(self, MOCK_CONFIG=file.name)
            policy = "fabrikam.onmicrosoft.com/b2c_1_susi/v2.0/.well-known/openid-configuration"
            self.assertIn('"issuer":"http://localhost', mock.run(f"curl -s http://127.0.0.1:3001/{policy}").replace("\\/", "/"))
            self.assertTrue(mock.run("curl -s 'http://127.0.0.1:3001/_mock/token?user=frida'").startswith("ey"))
