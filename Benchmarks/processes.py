"""Programs under load: how they are started and stopped, and what they cost, read from /proc."""
import http.client
import os
import socket
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, path, token=None, method="GET", body=None):
    """One request on a connection of its own: status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"Content-Type": "application/json"} if body else {}
    if token:
        headers["Authorization"] = "Bearer " + token
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def busy():
    """Seconds of CPU that the whole machine has used since it started."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, softirq, *_ = (int(x) / TICKS for x in f.readline().split()[1:])
    return user + nice + system + irq + softirq


class Program:
    """A program that runs until the end of the `with` block. Its output goes to a file: a terminal would slow it."""

    def __init__(self, name, command, environment, ready, log):
        self.name, self.command, self.environment, self.ready, self.log = name, command, environment, ready, log

    def __enter__(self):
        began = time.perf_counter()
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                self.command, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        while not self.answers():
            if self.process.poll() is not None or time.perf_counter() - began > 20:
                self.__exit__()
                with open(self.log) as log:
                    raise SystemExit(f"bench: {self.name} did not start:\n" + "".join(log.readlines()[-20:]))
            time.sleep(0.001)
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
        """Seconds of CPU so far, user and system."""
        with open(f"/proc/{self.process.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            line = next(line for line in f if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024  # the kernel says kB and means KiB
