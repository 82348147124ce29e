"""Programs under load: how they are started and stopped, and what they cost, read from /proc."""
import contextlib
import glob
import http.client
import os
import random
import socket
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLIENT, POLICY, TENANT = "580e250c-8f26-49d0-bee8-1c078add1609", "b2c_1_sign_in", "/contoso.onmicrosoft.com"


def free_port():
    """Below the range from which the system takes the ports of clients, one of which could come first."""
    while True:
        port = random.randint(15000, 30000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def ask(port, path, token=None, method="GET", body=None, more=None):
    """One request on a connection of its own, with `more` header fields: status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {**(more or {}), **({"Content-Type": "application/json"} if body else {})}
    if token:
        headers["Authorization"] = "Bearer " + token
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def go_compiler():
    """The newest of Debian's Go compilers."""
    return max(glob.glob("/usr/lib/go-*/bin/go"), key=lambda path: int(path.split("/")[3].rpartition(".")[2]))


def build_go(folder):
    """Builds the Go server into a folder, as `go-server`."""
    os.makedirs(folder, exist_ok=True)
    go = {"GO111MODULE": "off", "GOFLAGS": "", "CGO_ENABLED": "1", "GOTOOLCHAIN": "local",
          "GOPATH": "/usr/share/gocode", "GOCACHE": f"{folder}/go-cache"}
    command = [go_compiler(), "build", "-tags", "libsqlite3", "-o", f"{folder}/go-server", f"{ROOT}/Benchmarks/go/main.go"]
    subprocess.run(command, check=True, env={**os.environ, **go})


def busy():
    """Seconds of CPU that processes have used since the machine started, with those that its host gave to other machines.

    Interrupts, and the threads of the kernel, which write to the disk, work for whoever caused them, so they are not counted.
    """
    with open("/proc/stat") as f:
        user, nice, system, _, _, _, _, steal, *_ = (int(x) / TICKS for x in f.readline().split()[1:])
    of_kernel = sum(used for parent, used in processes().values() if parent == 2)
    return user + nice + system + steal - of_kernel


def processes():
    """The parent of each process, and the seconds of CPU that it has used, user and system, with its children that have ended."""
    found = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{number}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
            found[int(number)] = int(fields[1]), sum(map(int, fields[11:15])) / TICKS
    return found


def family(number, found):
    """A process and its descendants, among those that `processes` found."""
    members, added = {number}, True
    while added:
        added = {child for child, (parent, _) in found.items() if parent in members} - members
        members |= added
    return members


def cpu(number):
    """Seconds of CPU that a process and its descendants have used so far."""
    found = processes()
    return sum(found[member][1] for member in family(number, found) if member in found)


class Program:
    """A program that runs until the end of the `with` block. Its output goes to a file: a terminal would slow it.

    It has `patience` seconds to start.
    """

    def __init__(self, name, command, environment, ready, log, patience=20, port=None):
        self.name, self.command, self.environment, self.ready, self.log = name, command, environment, ready, log
        self.patience, self.port = patience, port

    def __enter__(self):
        began = time.perf_counter()
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                self.command, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        while not self.answers():
            if self.process.poll() is not None or time.perf_counter() - began > self.patience:
                self.__exit__()
                with open(self.log) as log:
                    raise SystemExit(f"{self.name} did not start:\n" + "".join(log.readlines()[-20:]))
            time.sleep(min(0.1, (time.perf_counter() - began) / 50))
        self.start_ms = (time.perf_counter() - began) * 1000
        return self

    def answers(self):
        try:
            return self.ready()
        except OSError:
            return False

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def cpu(self):
        """Seconds of CPU so far, user and system, of the program and its workers."""
        return cpu(self.process.pid)

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            line = next(line for line in f if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024  # the kernel says kB and means KiB


def mock_authority(folder):
    port = free_port()
    return Program("mock-authority", [f"{ROOT}/.build/release/mock-authority"], {"MOCK_LISTEN": f"127.0.0.1:{port}"},
                   lambda: ask(port, "/_mock/token?user=alice")[0] == 200, f"{folder}/authority.log", port=port)


def token(authority, changes=""):
    status, body = ask(authority.port, f"/_mock/token?user=alice&policy={POLICY}{changes}")
    if status != 200:
        raise SystemExit(f"bench: mock-authority answered {status}: {body.decode(errors='replace')}")
    return body.decode().strip()


def settings(port, authority_port, database):
    """Those of a task-server that accepts the tokens of mock-authority."""
    return {"TASKS_LISTEN": f"127.0.0.1:{port}", "TASKS_ADMIN_LISTEN": "off", "TASKS_CLIENT_ID": CLIENT, "TASKS_POLICIES": POLICY,
            "TASKS_AUTHORITY": f"http://127.0.0.1:{authority_port}{TENANT}", "TASKS_DATABASE": database}


def task_server(folder, database, authority, name="task-server"):
    port = free_port()
    return Program(
        name, [f"{ROOT}/.build/release/task-server"],
        {**settings(port, authority.port, database), "TASKS_MAX_TASKS": "10000000", "TASKS_KEY_CACHE_FILE": "off"},
        lambda: ask(port, "/readyz")[0] == 200, f"{folder}/{name.replace(' ', '-')}.log", port=port)
