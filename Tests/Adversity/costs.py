#!/usr/bin/env python3
"""Measures the figures of "The most that a client can cost" in SECURITY.md on the release build, and prints them as a table.

usage: scripts/build release && Tests/Adversity/costs.py [disk] [cpu] [memory]     all three, a few minutes

Ends with exit code 1 if memory and socket buffers with everything at its limit are more than the container of 256 MiB has.
"""
import base64
import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from memory_group import MemoryGroup
from programs import Mock, TaskServer, ask
from processes import cpu
from world import MEMORY_LIMIT

MIB = 1 << 20
TEXT, NOTES = "x" * 4096, "n" * 10_000
VOCABULARY = ["".join(random.choices("aeiounrstlm", k=length)) for length in range(2, 12) for _ in range(200)]
SHORT_LISTS, LONG_LISTS, BODIES = 400, 100, 490  # connections; some of the thousand stay for others


def person(number):
    return f"{number:08}-0000-4000-8000-000000000000"


def bring_in(server, tasks):
    """Imports lists of tasks, each a text and notes, by owner."""
    when = "2026-01-01T00:00:00.000Z"

    def lines():
        for owner, values in sorted(tasks.items()):
            for number, (text, notes) in enumerate(values, 1):
                line = {"owner": owner, "id": number, "text": text, "completed": False, "created": when, "modified": when, "revision": 1}
                yield json.dumps({**line, **({"notes": notes} if notes else {})})
        yield json.dumps({"end": True, "tasks": sum(map(len, tasks.values()))})

    server.import_lines(lines())


class Costs:
    def __init__(self, folder):
        self.folder, self.mock, self.figures = folder, Mock(folder).start(), []

    def note(self, what, figure):
        self.figures.append((what, figure))
        print(f"| {what} | {figure} |", flush=True)

    @contextlib.contextmanager
    def server(self, name, group=None, **settings):
        server = TaskServer(f"sqlite:{self.folder}/{name}.db", self.mock, group=group, **settings)
        server.start()
        try:
            yield server
        finally:
            server.terminate(80)

    def size(self, name):
        return os.path.getsize(f"{self.folder}/{name}.db")

    # -- disk

    def disk(self):
        with self.server("tasks") as server:
            bring_in(server, {person(1): [(TEXT, NOTES)] * 10_000})
        self.note("disk: 10,000 tasks with the longest text and notes", f"{self.size('tasks') / MIB:.0f} MiB")
        sizes = []
        for keys in (False, True):
            with self.server(f"keys-{keys}") as server:
                token, body = self.mock.token(person(1)), json.dumps({"task": TEXT, "notes": NOTES})
                with self.connection(server, token) as send:
                    for number in range(1000):
                        key = {"Idempotency-Key": f"{number:0255}"} if keys else {}
                        assert send("POST", body, key) == 201
            sizes.append(self.size(f"keys-{keys}"))
        self.note("disk: idempotency keys of one person", f"{(sizes[1] - sizes[0]) / MIB:.0f} MiB")

    @contextlib.contextmanager
    def connection(self, server, token):
        """Sends requests for the list of tasks on one connection, and gives their statuses."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

        def send(method, body=None, headers=None, path="/api/tasks"):
            connection.request(method, path, body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            answer.read()
            if answer.headers.get("Connection", "").lower() == "close":
                connection.close()
            return answer.status
        try:
            yield send
        finally:
            connection.close()

    # -- processor; what other programs do at the same time makes these figures larger

    def cpu(self):
        with self.server("cpu") as server:
            token = self.mock.token(person(1))
            before, count = server.log.bytes, 2000
            with self.connection(server, token) as send:
                for _ in range(count):
                    send("GET")
            time.sleep(1)
            self.note("log: a request that is answered", f"{(server.log.bytes - before) / count:.0f} bytes")
            costs = {}
            for name, (media, body) in bodies().items():
                costs[name] = self.refused(server, token, media, body)
            least = costs.pop("an empty object")
            for name, cost in sorted(costs.items(), key=lambda each: -each[1])[:3]:
                self.note(f"CPU: a refused body, {name}", f"{1000 * (cost - least):.2f} ms")
            bring_in(server, {person(2): [(TEXT, NOTES)] * 1000, person(3): [(words(4096), None) for _ in range(1000)]})
            self.changes(server)
            self.lists(server)

    def refused(self, server, token, media, body, count=100):
        with self.connection(server, token) as send:
            method = "PATCH" if body.startswith(b"[") else "POST"
            statuses = {send(method, body, {"Content-Type": media})}
            costs = []
            for _ in range(3):
                before = cpu(server.process.pid)
                statuses |= {send(method, body, {"Content-Type": media}) for _ in range(count)}
                costs.append((cpu(server.process.pid) - before) / count)
            if any(not 400 <= status < 500 for status in statuses):
                raise SystemExit(f"costs: {body[:40]} was answered {statuses}")
            return min(costs)

    def changes(self, server, count=20):
        def written():
            with open(f"/proc/{server.process.pid}/io") as file:
                return int(dict(line.split(": ") for line in file)["wchar"])
        with self.connection(server, self.mock.token(person(2))) as send:
            before, bytes_before = cpu(server.process.pid), written()
            for turn in range(count):
                change = [{"id": number, "completed": turn % 2 == 0} for number in range(1, 1001)]
                if (status := send("PATCH", json.dumps(change))) not in (200, 204):
                    raise SystemExit(f"costs: a list of changes was answered {status}")
            time.sleep(2)  # the log is copied into the database
            self.note("CPU: a list that changes 1000 of the longest tasks", f"{1000 * (cpu(server.process.pid) - before) / count:.0f} ms")
            self.note("disk: written by such a list", f"{(written() - bytes_before) / count / MIB:.1f} MiB")

    def lists(self, server, count=30):
        figures = []
        with self.connection(server, self.mock.token(person(3))) as send:
            for headers in ({}, {"Accept-Encoding": "gzip"}):
                before = cpu(server.process.pid)
                for after in range(count):
                    send("GET", None, headers, f"/api/tasks?limit=1000&after={after}")
                figures.append(1000 * (cpu(server.process.pid) - before) / count)
        self.note("CPU: a page of a list, 4 MiB", f"{figures[0]:.0f} ms")
        self.note("CPU: to compress it", f"{figures[1] - figures[0]:.0f} ms")

    # -- memory

    def memory(self):
        """Every cache full, all memory for long lists in use, and all connections with an answer or a body that waits."""
        group, reason = MemoryGroup.make(MEMORY_LIMIT * MIB)
        if not group:
            print(f"costs: no memory cgroup to be had ({reason})", file=sys.stderr)
        with contextlib.ExitStack() as held:
            if group:
                held.callback(group.close)
            server = held.enter_context(self.server("memory", group))
            readers = [person(number) for number in range(10, 20)]
            cached = [person(number) for number in range(100, 164)]
            bring_in(server, {**{each: [(mixed(4096), None)] * 600 for each in readers},
                              **{each: [(mixed(4096), None)] * 210 for each in cached}})
            self.fill_caches(server, cached)
            self.note("memory: every cache full", f"{server.figures()['resident']:.0f} MiB resident")
            clients = self.occupy(server, held, readers)
            most, sockets = 0, (0,)
            end = time.monotonic() + 6
            while time.monotonic() < end:
                push(clients)
                used = socket_memory(server.port)
                resident = server.figures()["resident"]
                if sum(used) + resident > most + sum(sockets):
                    most, sockets = resident, used
            self.note("memory: everything at its limit", f"{most:.0f} MiB resident, {sum(sockets):.0f} MiB of socket buffers "
                      f"({' + '.join(f'{each:.0f}' for each in sockets)} received, reserved and sent), "
                      f"{server.metric('tasks_answer_bytes') / MIB:.0f} MiB of long lists, "
                      f"{server.metric('tasks_connections_open'):.0f} connections; in a memory cgroup: {bool(group)}")
            kills = group.kills() if group else 0
            for client, _ in clients:
                client.close()
        if most + sum(sockets) > MEMORY_LIMIT or kills:
            raise SystemExit(f"costs: {most + sum(sockets):.0f} MiB are more than the {MEMORY_LIMIT} of a container; {kills} kills")

    def fill_caches(self, server, people):
        """Tokens of 7 KiB, and lists of nearly 2 MB in both codings."""
        def verified(number):
            token = self.mock.token(person(10_000 + number), **{"claim": [f"oid={person(10_000 + number)}", "note=" + "x" * 5000]})
            return ask(server.port, "GET", "/api/me", {"Authorization": f"Bearer {token}"})[0]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            if set(pool.map(verified, range(2400))) != {200}:
                raise SystemExit("costs: a long token was refused")
        for each in people:
            headers = {"Authorization": f"Bearer {self.mock.token(each)}", "Accept-Encoding": "gzip"}
            for _ in range(2):
                ask(server.port, "GET", "/api/tasks", headers)

    def occupy(self, server, held, readers):
        """Connections that read nothing, with what each goes on sending."""
        tokens = [self.mock.token(each) for each in readers]
        clients = []
        for number in range(SHORT_LISTS + LONG_LISTS + BODIES):
            token = tokens[number % len(tokens)]
            authorization = f"HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n"
            if number < LONG_LISTS:
                what = f"GET /api/tasks?limit=1000&after={number // len(tokens)} {authorization}\r\n"
            elif number < LONG_LISTS + SHORT_LISTS:
                what = f"GET /api/tasks?limit=1&after={number} {authorization}\r\n" * 100
            else:
                what = f"POST /api/tasks {authorization}Content-Type: application/json\r\nContent-Length: 65536\r\n\r\n" + "x" * 65_000
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", server.port))
            client.setblocking(False)
            held.callback(client.close)
            clients.append((client, bytearray(what.encode() + (b"\r\n" * 100_000 if number < LONG_LISTS + SHORT_LISTS else b""))))
        return clients


def words(count):
    """Text that takes gzip long, as languages do."""
    return " ".join(random.choices(VOCABULARY, k=count // 4))[:count]


def mixed(count):
    """Text of which gzip saves somewhat more than half, since a list has each text twice."""
    return base64.b64encode(random.randbytes(count * 3 // 4)).decode()[:count]


def push(clients):
    """Sends what the connections take."""
    for client in select.select([], [each for each, rest in clients if rest and each.fileno() >= 0], [], 0.2)[1]:
        rest = next(rest for each, rest in clients if each is client)
        with contextlib.suppress(OSError):
            del rest[:client.send(rest)]


def socket_memory(port):
    """MiB that the system holds for the connections of a server: received, reserved, and sent."""
    lines = subprocess.run(["ss", "-tmnH", "sport", "=", f":{port}"], capture_output=True, text=True, check=True).stdout
    values = re.findall(r"skmem:\(r(\d+),rb\d+,t\d+,tb\d+,f(\d+),w(\d+)", lines)
    return [sum(map(int, each)) / MIB for each in zip(*values)]


def bodies():
    """Bodies of nearly 64 KiB that are refused as late as possible, with their media types."""
    length, plain = 65_000, "application/json"
    form, parts = "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"

    def changes(change, last=b'{"id":"x"}'):
        count = min(1000, length // (len(change % 1000) + 1))
        return b"[" + b",".join([*(change % number for number in range(1, count)), last]) + b"]"
    pieces = [b'--b\r\nContent-Disposition: form-data; name="f%d"\r\n\r\n%s\r\n' % (number, b"x" * 900) for number in range(64)]
    members = b",".join(b'"m%d":%d' % (number, number) for number in range(990))
    return {
        "an empty object": (plain, b"{}"),
        "a long text": (plain, b'{"task":"' + b"x" * length + b'"}'),
        "a text of escapes": (plain, b'{"task":"' + b"\\u00e9" * (length // 6) + b'"}'),
        "a text of surrogates": (plain, b'{"task":"' + b"\\ud83d\\ude00" * (length // 12) + b'"}'),
        "a text of line ends": (plain, b'{"task":"' + b"\\n" * (length // 2) + b'"}'),
        "an object of 990 members": (plain, b"{" + members + b"}"),
        "990 long names": (plain, b"{" + b",".join(b'"%s%d":1' % (b"m" * 55, number) for number in range(990)) + b"}"),
        "990 numbers with fractions": (plain, b'{"a":[' + b",".join([b"1." + b"7" * 60] * 990) + b"]}"),
        "one long number": (plain, b'{"a":' + b"7" * length + b"}"),
        "1000 arrays in arrays": (plain, b'{"a":[' + b",".join([b"[" * 30 + b"]" * 30] * 30) + b"]}"),
        "white space": (plain, b" " * length + b"{}"),
        "an escaped form": (form, b"task=" + b"%78" * (length // 3)),
        "a form of 100 fields": (form, b"&".join(b"f%d=%s" % (number, b"%78" * 210) for number in range(99))),
        "a multipart form of 64 parts": (parts, b"".join(pieces) + b"--b--\r\n"),
        "a multipart form of line ends": (parts, b'--b\r\nContent-Disposition: form-data; name="task"\r\n\r\n' + b"\r\n-" * (length // 3)),
        "1000 changes, the last of them wrong": (plain, changes(b'{"id":%d,"completed":true}')),
        "1000 changes with conditions": (plain, changes(b'{"id":%d,"task":"abc","ifMatch":"\\"1.1\\""}')),
        "1000 changes with notes": (plain, changes(b'{"id":%d,"task":"abc","notes":"abc","due":"2026-01-01"}')),
        "1000 changes with positions": (plain, changes(b'{"id":%d,"completed":true,"position":0.123456789}')),
        "12,000 members": (plain, changes(b'{"id":%d,"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}')),
        "12,000 arrays": (plain, b'[{"id":1,"a":[' + b",".join([b"[]"] * 11_990) + b']},{"id":"x"}]'),
        "12,000 objects": (plain, b'[{"id":1,"a":[' + b",".join([b"{}"] * 11_990) + b']},{"id":"x"}]'),
        "12,000 short texts": (plain, b'[{"id":1,"a":[' + b",".join([b'"a"'] * 11_990) + b']},{"id":"x"}]'),
        "1000 changes with escaped names": (plain, changes(b'{"\\u0069d":%d,"\\u0074ask":"\\u0061","\\u0061":1}')),
        "1000 changes of missing tasks": (plain, changes(b'{"id":%d,"completed":true}', b'{"id":99999}')),
        "1000 changes in short words": (plain, changes(b'{"ID":%d,"TASK":"a","Completed":"true","NOTES":null}')),
    }


def main():
    wanted = sys.argv[1:] or ["disk", "cpu", "memory"]
    folder = tempfile.mkdtemp(prefix="task-server-costs-")
    try:
        costs = Costs(folder)
        print("| What | Figure |\n| --- | --- |")
        for name in wanted:
            getattr(costs, name)()
        costs.mock.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
