"""SQLite's log stays within its bound, and a stranger is served, while four people send lists of changes as fast as they are answered."""
import collections
import contextlib
import http.client
import json
import os
import sys
import threading
import time

sys.dont_write_bytecode = True

from programs import MockTest, TaskServer

SECONDS = 12
MIB = 1 << 20
BOUND = 96 * MIB
PEOPLE, TASKS, TEXT, NOTES = 4, 700, "x" * 4096, "n" * 10_000
# Each changes every task: one bit, or the length of the row, so that all of it is written again.
CHANGES = {"completed": True}, {"due": "2026-11-30"}, {"completed": False}, {"due": None}
LISTS = [json.dumps([{"id": number, **change} for number in range(1, TASKS + 1)]) for change in CHANGES]
ADDITIONS = [json.dumps({"task": "a"})]
QUICK = 0.01  # seconds: a shared machine is not more punctual
STRANGER = "99999999-0000-4000-8000-000000000000"


def person(number):
    return f"{number:08}-0000-4000-8000-000000000000"


def bring_in_tasks(server):
    """Every person gets the same tasks, each of 14 kB."""
    time_text = "2026-01-01T00:00:00.000Z"

    def lines():
        for owner in map(person, range(PEOPLE)):
            for number in range(1, TASKS + 1):
                line = {"owner": owner, "id": number, "text": TEXT, "completed": False, "created": time_text, "modified": time_text,
                        "revision": 1, "notes": NOTES}
                yield json.dumps(line, separators=(",", ":"))
        yield json.dumps({"end": True, "tasks": PEOPLE * TASKS})

    server.import_lines(lines())


class Client:
    """Sends one request after another on a connection, and knows how each was answered and after how many seconds."""

    def __init__(self, port, token):
        self.token, self.connection = token, http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.statuses, self.times, self.sent = collections.Counter(), [], 0

    def send(self, method, body):
        began = time.monotonic()
        self.connection.request(method, "/api/tasks", body,
                                {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        answer.read()
        self.times.append(time.monotonic() - began)
        self.sent += len(body)
        self.statuses[answer.status] += 1
        if answer.headers.get("Connection", "").lower() == "close":
            self.connection.close()
        return answer.status

    def run(self, bodies, method, stop):
        while not stop.is_set():
            for body in bodies:
                if self.send(method, body) == 503:
                    time.sleep(0.02)
        self.connection.close()

    def percentile(self, share):
        return sorted(self.times)[int(share * (len(self.times) - 1))]

    def __str__(self):
        return f"{len(self.times)} in {self.percentile(0.5) * 1000:.1f} ms (p50), {self.percentile(0.9) * 1000:.1f} (p90), {self.percentile(0.99) * 1000:.1f} (p99)"


@contextlib.contextmanager
def running(clients, bodies, method):
    """The clients send, each on a thread, until the block ends."""
    stop = threading.Event()
    threads = [threading.Thread(target=client.run, args=(bodies, method, stop)) for client in clients]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


class LogSize(MockTest):
    BUILD = "release"  # in a debug build the log has time enough

    def setUp(self):
        self.server = TaskServer(f"sqlite:{self.folder}/tasks.db", self.mock, self.BUILD, TASKS_LOG_REQUESTS="errors", TASKS_MAX_TASKS="1000000")
        self.addCleanup(self.server.close)
        self.server.start()

    def written(self):
        with open(f"/proc/{self.server.process.pid}/io") as file:
            return int(dict(line.split(": ") for line in file)["wchar"])

    def largest_log(self, seconds):
        """The most bytes that the log has in this time."""
        end, most = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            time.sleep(0.02)
            most = max(most, os.path.getsize(f"{self.folder}/tasks.db-wal"))
        return most

    def stranger(self):
        return Client(self.server.port, self.mock.token(STRANGER))

    def test_lists_of_changes(self):
        bring_in_tasks(self.server)
        alone, beside = self.stranger(), self.stranger()
        with running([alone], ADDITIONS, "POST"):
            self.largest_log(5)
        attackers = [Client(self.server.port, self.mock.token(person(number))) for number in range(PEOPLE)]
        before = self.written()
        with running(attackers, LISTS, "PATCH"):
            log = self.largest_log(SECONDS)
            lists, written = sum(each.statuses[200] for each in attackers), self.written() - before
            with running([beside], ADDITIONS, "POST"):
                log = max(log, self.largest_log(SECONDS))
        rows = lists * TASKS * (len(TEXT) + len(NOTES))
        sent = sum(each.sent for each in attackers)
        statuses = sum((each.statuses for each in attackers), collections.Counter())
        print(f"test_log_size: log {log / MIB:.0f} MiB at most, {sent / MIB:.0f} MiB sent, lists answered {dict(statuses)}; before the "
              f"stranger {lists} lists, {written / MIB:.0f} MiB written, {written / max(rows, 1):.2f} for each byte of a changed row; "
              f"a stranger's POST alone: {alone}, beside: {beside}", file=sys.stderr)
        self.assertLessEqual(log, BOUND)
        self.assertLess(written, 3 * rows)
        self.assertEqual(set(beside.statuses), {201})
        self.assertLess(beside.percentile(0.99), 5 * max(alone.percentile(0.99), QUICK))
