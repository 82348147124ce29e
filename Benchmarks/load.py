"""One load of wrk on a running program, and what it cost."""
import dataclasses
import os
import re
import resource
import subprocess

from processes import busy, cpu

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass(frozen=True)
class Requests:
    """What is asked, by a method of requests.lua, with the tokens of `of` in turn."""
    method: str = "GET"
    of: str = "person"
    connections: int = 64
    query: str = ""

    @property
    def is_refused(self):
        return self.of in ("anonymous", "expired")

    def __str__(self):
        others = {"person": "", "people": ", 1000 people", "crowd": ", 64 people", "all": ", 30,000 people", "anonymous": ", no token",
                  "expired": ", expired token"}
        count = "" if self.connections == 64 else f", {self.connections} connection{'s' * (self.connections > 1)}"
        return f"{'90/10 mix' if self.method == 'MIX' else self.method}{self.query}{others[self.of]}{count}"


@dataclasses.dataclass
class Load:
    """The figures of one load. `others` is the CPUs that neither the program, nor its helpers, nor wrk used."""
    row: str
    program: str
    requests: str
    count: int
    rate: float
    cpu_us: float
    p50_us: float
    p99_us: float
    others: float
    helper_cpu_us: float | None = None


class Wrk:
    """wrk, running. `folder` has the files of tokens."""

    def __init__(self, folder, port, requests, seconds):
        environment = {**os.environ, "TOKENS": f"{folder}/tokens-{requests.of}", "METHOD": requests.method}
        self.requests = requests
        self.process = subprocess.Popen(
            ["wrk", "-t1", f"-c{requests.connections}", f"-d{seconds}s", "--latency", "-s", f"{HERE}/requests.lua",
             f"http://127.0.0.1:{port}/api/tasks{requests.query}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)

    def cpu(self):
        return cpu(self.process.pid)

    def end(self):
        """Waits for its end: what it printed, and the sentence for a wrong answer or a lost connection."""
        printed = self.process.communicate()[0]
        if self.process.returncode:
            raise SystemExit(f"bench: wrk: {printed}")
        wrong = re.findall(r"Socket errors.*", printed)
        refused = re.search(r"Non-2xx or 3xx responses: (\d+)", printed)
        if self.requests.is_refused and count(printed) != int(refused[1] if refused else 0):
            wrong.append("requests that must be refused were answered")
        if not self.requests.is_refused and refused:
            wrong.append(refused[0])
        return printed, wrong


def count(printed):
    return int(re.search(r"(\d+) requests in", printed)[1])


def of_children():
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def microseconds(printed, percentile):
    number, unit = re.search(rf"^\s+{percentile}%\s+([\d.]+)(us|ms|s|m)\s*$", printed, re.M).groups()
    return float(number) * {"us": 1, "ms": 1e3, "s": 1e6, "m": 6e7}[unit]


def measure(row, folder, program, requests, seconds, helpers=()):
    """One load after a second of the same: its figures, and sentences for what went wrong.

    `helpers` are what else works for it, a database or other clients; their CPU does not count as others'.
    """
    Wrk(folder, program.port, requests, 1).end()
    ours = [program, *helpers]
    before, of_wrk, all_busy = [each.cpu() for each in ours], of_children(), busy()
    printed, wrong = Wrk(folder, program.port, requests, seconds).end()
    used = [each.cpu() - earlier for each, earlier in zip(ours, before)]
    others = busy() - all_busy - sum(used) - (of_children() - of_wrk)
    number = count(printed)
    load = Load(row, program.name, str(requests), number, float(re.search(r"Requests/sec:\s+([\d.]+)", printed)[1]),
                used[0] / max(number, 1) * 1e6, microseconds(printed, 50), microseconds(printed, 99), max(0.0, others) / seconds,
                used[1] / max(number, 1) * 1e6 if helpers else None)
    return load, [f"{program.name}, {requests}: {sentence}" for sentence in wrong]
