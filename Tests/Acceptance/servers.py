"""Both programs, started for the tests on free ports, with a temporary database."""

import atexit
import base64
import contextlib
import functools
import html
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TENANT = "contoso.onmicrosoft.com"
CLIENT = "580e250c-8f26-49d0-bee8-1c078add1609"
EXTERNAL_TENANT = "4f5d1a2b-93c6-4e87-a1b0-2c3d4e5f6a7b"
EXTERNAL_CLIENT = "2b7d9e41-5c8f-4a03-b6e1-0f9d8c7b6a5e"
EXTERNAL_API = "8c0e7f52-1b3a-4d69-9e8f-7a6b5c4d3e2f"
PASSWORD = "Passw0rd!"
POLICIES = "b2c_1_sign_up,b2c_1_sign_in,b2c_1_facebook,b2c_1_edit_profile,b2c_1_reset,b2c_1_ropc"


def free_port():
    """Below the range from which the system takes the ports of clients, one of which could come first."""
    while True:
        port = random.randint(15000, 30000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def decoded(text):
    """The JSON in base64url without padding, such as a part of a token."""
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def claims_of(token):
    """The claims of a token, unverified."""
    return decoded(token.split(".")[1])


def answers(url):
    try:
        # A new opener trusts what SSL_CERT_FILE names now; since Python 3.12 urlopen keeps what it named first.
        with urllib.request.build_opener().open(url, timeout=2) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


class Handler(http.server.BaseHTTPRequestHandler):
    """A handler of small servers for tests. It logs nothing."""

    def answer(self, status, kind="text/plain", body=b""):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(handler, port=0):
    """Serves with this handler on this port, or on one that the system chooses, whose number it gives."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def filled_in(page, address, user="alice@example.com", password=PASSWORD):
    """Where the form to sign in goes on a page of the authority, and its fields with what a person types."""
    action = html.unescape(re.search('method="post" action="([^"]+)"', page)[1])
    fields = {name: html.unescape(value) for name, value in re.findall('<input type="hidden" name="([^"]+)" value="([^"]*)"', page)}
    return urllib.parse.urljoin(address, action), {**fields, "signInName": user, "password": password, "action": "continue"}


class Servers:
    """`mock-authority` and `task-server`; the page can be taken away and brought back."""

    policy = "b2c_1_sign_in"

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tasks-acceptance-"))
        self.programs = ROOT / ".build/debug"
        self.ports = [free_port() for _ in range(2)]
        self.page = f"http://127.0.0.1:{self.ports[0]}"
        self.authority = f"http://127.0.0.1:{self.ports[1]}"
        self.running = {}
        atexit.register(self.stop)
        self._start("mock-authority", **self.authority_settings())
        self._await("mock-authority", f"{self.authority}/{TENANT}/{self.policy}/v2.0/.well-known/openid-configuration")
        self.start_page()

    def authority_settings(self):
        return {"MOCK_LISTEN": f"127.0.0.1:{self.ports[1]}", "MOCK_ISSUER": self.authority}

    def start_page(self, **settings):
        self._start_page("task-server", self.ports[0], {"TASKS_DATABASE": f"sqlite:{self.folder / 'tasks.db'}", **settings})
        self._await("task-server", f"{self.page}/readyz")

    def external_id_settings(self):
        """Of a `task-server` for the mock's tenant of External ID, as docs/connect-a-tenant.md has them."""
        return {
            "TASKS_AUTHORITY": f"{self.authority}/{EXTERNAL_TENANT}",
            "TASKS_ISSUER": f"https://{EXTERNAL_TENANT}.ciamlogin.com/{EXTERNAL_TENANT}/v2.0",
            "TASKS_POLICIES": "",
            "TASKS_CLIENT_ID": f"{EXTERNAL_CLIENT},{EXTERNAL_API}",
            "TASKS_READ_SCOPE": f"api://{EXTERNAL_API}/Tasks.Read",
            "TASKS_WRITE_SCOPE": f"api://{EXTERNAL_API}/Tasks.Write",
        }

    def stop_page(self):
        self._end(self.running.pop("task-server"))

    @contextlib.contextmanager
    def another_page(self, **settings):
        """Another `task-server`, with these settings and its own tasks."""
        port = free_port()
        name = f"other-{port}"
        self._start_page(name, port, {"TASKS_DATABASE": "memory:", **settings})
        try:
            url = f"{'https' if 'TASKS_TLS_CERT' in settings else 'http'}://127.0.0.1:{port}"
            self._await(name, f"{url}/readyz")
            yield url
        finally:
            self._end(self.running.pop(name))

    @contextlib.contextmanager
    def proxy(self, url, program, *arguments):
        """Another program in front, as soon as it answers at this address."""
        self._start(program, "proxy", arguments, XDG_CONFIG_HOME=str(self.folder), XDG_DATA_HOME=str(self.folder))  # for Caddy
        try:
            self._await("proxy", url)
            yield
        finally:
            self._end(self.running.pop("proxy"))

    def control(self, path, order=None, method=None):
        """Asks the controls of the authority, or sends them an order as JSON; the answer's JSON, or its text."""
        data = None if order is None else json.dumps(order).encode()
        request = urllib.request.Request(f"{self.authority}/_mock/{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read().decode().strip()
            return json.loads(text) if answer.headers.get_content_type() == "application/json" else text

    def token(self, user="alice@example.com", **order):
        return self.control(f"token?{urllib.parse.urlencode({'user': user, **order})}")

    def count_sent(self, text, control=""):
        """How many requests to the authority had this text in the address or the body; the control names a tenant, in a query."""
        return sum(text in json.dumps(request) for request in self.control(f"requests{control}"))

    def request(self, method, path, body=None, user="alice@example.com", token=None):
        """A request to the API with this token, or with a new one of somebody; the answer's JSON, `None` if it has none."""
        request = urllib.request.Request(
            self.page + path, method=method, data=None if body is None else json.dumps(body).encode(), headers={
                "Authorization": f"Bearer {token or self.token(user)}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")

    def remove_tasks(self, user):
        """So that a test finds nothing that another one of the same person left."""
        tasks = self.request("GET", "/api/tasks", user=user)
        if tasks:
            self.request("PATCH", "/api/tasks", [{"id": task["Id"], "completed": True, "repeat": None} for task in tasks], user)
            self.request("DELETE", "/api/tasks?completed=true", user=user)

    def stop(self):
        for program in self.running.values():
            self._end(program)
        self.running.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start_page(self, name, port, settings):
        self._start(
            "task-server", name,
            **{
                "TASKS_LISTEN": f"127.0.0.1:{port}", "TASKS_ADMIN_LISTEN": "off", "TASKS_MAX_TASKS": "200000",
                "TASKS_AUTHORITY": f"{self.authority}/{TENANT}", "TASKS_POLICIES": POLICIES, "TASKS_CLIENT_ID": CLIENT,
                "TASKS_PUBLIC": str(ROOT / "Public"), **settings,
            })

    def _start(self, program, name=None, arguments=(), **settings):
        name = name or program
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("TASKS_", "MOCK_"))}
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(
                [self.programs / program, *arguments], env={**kept, **settings}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _await(self, name, url):
        for _ in range(1200):
            if answers(url):
                return
            if self.running[name].poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"{name} does not answer at {url}:\n{(self.folder / f'{name}.log').read_text()}")

    @staticmethod
    def _end(program):
        program.terminate()
        try:
            program.wait(timeout=15)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


@functools.cache
def shared():
    """The same servers for all tests; what tests must not share are people."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped then, too
    return Servers()
