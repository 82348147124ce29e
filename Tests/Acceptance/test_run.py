"""`make run` as its users know it: whoever signed up can sign in after the next start, and finds the tasks."""

import contextlib
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from person import PageTest, Person
from servers import PASSWORD, ROOT, answers, free_port


class Run:
    """`scripts/run` on free ports, with its tasks in a folder; Ctrl-C ends it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ports = {name: free_port() for name in ["PORT", "MOCK_PORT", "ADMIN_PORT"]}
        self.page = f"http://127.0.0.1:{self.ports['PORT']}"

    def __enter__(self):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("TASKS_", "MOCK_"))}
        settings = {name: str(port) for name, port in self.ports.items()}
        with open(self.folder / "run.log", "ab") as log:
            self.process = subprocess.Popen(
                [ROOT / "scripts/run"], env={**kept, **settings, "TASKS_DATABASE": f"sqlite:{self.folder}/tasks.db"},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                # The caller may ignore Ctrl-C, and a shell cannot take that back.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        return self

    def await_page(self):
        """Until the page answers: the first start may have to build."""
        for _ in range(3000):
            if answers(f"{self.page}/readyz"):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"make run does not get ready:\n{(self.folder / 'run.log').read_text()}")

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise


class Building(unittest.TestCase):
    def test_a_terminal_shows_what_is_built_of_how_much(self):
        """With a compiler that says what Swift's says, and goes on when the line was seen. It fails, so that nothing is started."""
        with tempfile.TemporaryDirectory(prefix="tasks-run-") as folder:
            swift, seen = pathlib.Path(folder) / "swift", pathlib.Path(folder) / "seen"
            swift.write_text(f"""#!/bin/sh
                [ "$1" = build ] || exec {shutil.which("swift")} "$@"
                echo '[7/90] Compiling HTTP Method.swift'
                for _ in $(seq 600); do [ -e {seen} ] && break; sleep 0.1; done
                echo 'error: a test'
                exit 1""")
            swift.chmod(0o755)
            ports = {name: str(free_port()) for name in ["PORT", "MOCK_PORT", "ADMIN_PORT"]}
            terminal, end = pty.openpty()
            process = subprocess.Popen([ROOT / "scripts/run"], env={**os.environ, **ports, "PATH": f"{folder}:{os.environ['PATH']}"},
                                       stdin=subprocess.DEVNULL, stdout=end, stderr=end)
            os.close(end)
            shown = b""
            with contextlib.suppress(OSError):  # the end of a terminal is an error
                while part := os.read(terminal, 4096):
                    shown += part
                    if b"run: task-server, 7 of 90 steps, " in shown:
                        seen.touch()
            os.close(terminal)
            self.assertEqual(process.wait(60), 1, shown)
            self.assertTrue(seen.exists(), shown)
            self.assertIn(b"\r\x1b[Kerror: a test", shown)


class PeopleStay(PageTest):
    def test_who_signed_up_signs_in_after_the_next_start_and_sees_the_tasks(self):
        with tempfile.TemporaryDirectory(prefix="tasks-run-") as folder:
            run = Run(folder)
            person = Person(self.chrome, run.page)
            address = self.stranger()
            with run:
                run.await_page()
                person.sign_up(address, "Nora Newcomer")
                person.save("Still there")
                person.sign_out()
            with run:
                run.await_page()
                person.sign_in(address, PASSWORD)
                person.await_texts("Still there")
                self.chrome.get("about:blank")  # so that no request of the page finds the servers gone
            said = (pathlib.Path(folder) / "run.log").read_text()
            self.assertIn("run: built", said)
            self.assertNotIn("Building for debugging", said)  # what the compiler says is in a log
            self.assertNotIn("\r", said)  # only a terminal shows the progress
