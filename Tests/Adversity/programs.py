"""mock-authority and task-server as the adversity suites start, watch and end them. All traffic stays on 127.0.0.0/8."""
import atexit
import collections
import http.client
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
# After this folder, whose report.py has the name of another file there.
sys.path.append(str(ROOT / "Benchmarks"))

from processes import CLIENT, free_port  # noqa: E402

AUTHORITY = "/contoso.onmicrosoft.com"

# Floods of more than a thousand connections begin here.
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (8192 if most == resource.RLIM_INFINITY else min(most, 8192), most))


class Failed(Exception):
    """A guarantee that did not hold, as a sentence."""


def wait_until(what, seconds, condition, pause=0.02):
    """Waits for a condition; OSErrors and half answers count as not yet."""
    end = time.monotonic() + seconds
    while True:
        try:
            if value := condition():
                return value
        except (OSError, http.client.HTTPException):
            pass
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(pause)


def ask(port, method, path, headers=None, body=None, timeout=30, source="127.0.0.1"):
    """One request on a connection of its own: status, header fields, body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout, source_address=(source, 0))
    try:
        connection.request(method, path, body, {"Connection": "close", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


class Log:
    """Reads what a program prints, so that its pipe never fills, unless the reader is told to pause; keeps the end of it."""

    def __init__(self):
        self.bytes, self.tail, self.events = 0, collections.deque(maxlen=200), collections.Counter()
        self.secrets, self.reading = 0, threading.Event()
        self.reading.set()

    def follow(self, pipe):
        thread = threading.Thread(target=self._run, args=(pipe,), daemon=True)
        thread.start()
        return thread

    def _run(self, pipe):
        with pipe:
            for line in pipe:
                self.reading.wait(60)
                self.bytes += len(line)
                self.secrets += b"eyJ" in line  # what every token begins with
                if b'"event":"request"' not in line:
                    self.tail.append(line.decode(errors="replace").rstrip())
                    self.events[line.partition(b'"event":"')[2].partition(b'"')[0].decode(errors="replace") or "text"] += 1


class Program:
    """A program that is started more than once, on the same ports."""

    def __init__(self, command, settings, prefix=()):
        self.command, self.settings, self.prefix, self.log, self.process = command, settings, list(prefix), Log(), None
        self.inherited = ()
        atexit.register(self.close)

    def launch(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TASKS_", "MOCK_"))}
        self.process = subprocess.Popen(
            [*self.prefix, *self.command], env={**kept, **self.settings}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, pass_fds=self.inherited)
        self.reader = self.log.follow(self.process.stdout)

    def kill(self):
        self.process.kill()
        self.process.wait(10)

    def terminate(self, seconds):
        """Ends it as a service manager does: the seconds it took, and the exit code."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"{self.command[0].name} did not end within {seconds} s of SIGTERM") from None
        return time.monotonic() - began, code

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def close(self):
        self.log.reading.set()
        if self.is_running():
            self.kill()


class Mock(Program):
    """The authority; with a folder of its own it has the same keys after a restart."""

    def __init__(self, folder, build="release"):
        self.port = free_port()
        super().__init__([ROOT / f".build/{build}/mock-authority"],
                         {"MOCK_LISTEN": f"127.0.0.1:{self.port}", "MOCK_STATE": f"{folder}/mock"})

    def start(self):
        self.launch()
        probe = "/_mock/token?user=alice@example.com"
        wait_until("mock-authority answers", 60, lambda: ask(self.port, "GET", probe)[0] == 200)
        return self

    def token(self, owner, **order):
        query = urllib.parse.urlencode({"user": "alice@example.com", "claim": f"oid={owner}", **order})
        status, _, body = ask(self.port, "GET", f"/_mock/token?{query}", timeout=20)
        if status != 200:
            raise Failed(f"mock-authority gave no token: {status}")
        return body.decode().strip()

    def control(self, name, order):
        status, _, body = ask(self.port, "POST", f"/_mock/{name}", {"Content-Type": "application/json"}, json.dumps(order))
        if status != 200:
            raise Failed(f"mock-authority refused {name} {order}: {status} {body[:200]}")


class MockTest(unittest.TestCase):
    """Tests that share a folder and an authority."""

    BUILD = "debug"

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        cls.mock = Mock(cls.folder, cls.BUILD).start()
        cls.addClassCleanup(cls.mock.close)


class TaskServer(Program):
    """The server on a database, in a memory cgroup if one is given."""

    def __init__(self, database, mock, build="release", group=None, **settings):
        self.port, self.admin_port = free_port(), free_port()
        super().__init__(
            [ROOT / f".build/{build}/task-server"],
            {"TASKS_LISTEN": f"127.0.0.1:{self.port}", "TASKS_ADMIN_LISTEN": f"127.0.0.1:{self.admin_port}",
             "TASKS_AUTHORITY": f"http://127.0.0.1:{mock.port}{AUTHORITY}", "TASKS_POLICIES": "b2c_1_sign_in",
             "TASKS_CLIENT_ID": CLIENT, "TASKS_DATABASE": database, "TASKS_PUBLIC": "off", "TASKS_LOG_FORMAT": "json",
             **settings},
            group.prefix if group else ())

    def start(self, seconds=60):
        self.launch()
        self.await_ready(seconds)
        return self

    def await_ready(self, seconds=60):
        def ready():
            if not self.is_running():
                raise Failed("task-server ended at its start:\n" + "\n".join(list(self.log.tail)[-5:]))
            return self.is_ready()
        wait_until("task-server is ready", seconds, ready)

    def import_lines(self, lines):
        """Imports lines of text into the database, which a server of SQLite has to be stopped for."""
        self.terminate(80)
        command = subprocess.Popen([*self.command, "import"], env=self.settings, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        with command.stdin as pipe:
            for line in lines:
                pipe.write(line.encode() + b"\n")
        errors = command.stderr.read().decode()
        command.stderr.close()
        if command.wait(300) != 0:
            raise SystemExit(f"the lines could not be imported: {errors}")
        self.start()

    def is_ready(self):
        return ask(self.port, "GET", "/readyz", timeout=10)[0] == 200

    def command_line(self, *arguments):
        """Runs a command of task-server with the same settings. Returns its exit code and its errors."""
        settings = {name: value for name, value in self.settings.items() if name != "LD_PRELOAD"}
        done = subprocess.run([*self.command, *arguments], env={**os.environ, **settings}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=600)
        return done.returncode, done.stderr.decode(errors="replace")

    def figures(self):
        """Threads, and MiB of memory now and at most, of the process; and how many descriptors are open."""
        with open(f"/proc/{self.process.pid}/status") as file:
            lines = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        if "VmRSS" not in lines:
            raise ProcessLookupError("the process has ended")
        return {"resident": int(lines["VmRSS"].split()[0]) / 1024, "most": int(lines["VmHWM"].split()[0]) / 1024,
                "threads": int(lines["Threads"]), "descriptors": len(os.listdir(f"/proc/{self.process.pid}/fd"))}

    def metric(self, name):
        """The sum of a metric over its labels."""
        text = ask(self.admin_port, "GET", "/metrics")[2].decode()
        lines = [line for line in text.splitlines() if line.partition(" ")[0].partition("{")[0] == name]
        return sum(float(line.rpartition(" ")[2]) for line in lines)
