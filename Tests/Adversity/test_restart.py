#!/usr/bin/env python3
"""Restarts a server under the load of 64 clients, on a socket that the test holds as systemd would: no request is refused, lost or answered
twice, and each task that was acknowledged is in the database once.

usage: test_restart.py [RESTARTS REQUESTS]     with the release build, ten restarts and a million requests unless told otherwise
"""
import collections
import contextlib
import json
import pathlib
import selectors
import socket
import sqlite3
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True

from programs import Failed, Mock, TaskServer, free_port, wait_until

CLIENTS = 64
# An authority that does not answer.
Address = collections.namedtuple("Address", "port")
# Starts a program as a service manager does: the socket is descriptor 3.
ACTIVATE = """import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])"""


class Client:
    """One client: adds a task, reads it, reads a page of its list, and so on. It never repeats a request."""

    def __init__(self, load, number, token):
        self.load, self.number, self.count, self.received, self.wanted = load, number, 0, b"", b""
        # A third of the clients makes a connection for each request.
        self.is_kept = number % 3 != 0
        self.head = f"Host: x\r\nAuthorization: Bearer {token}\r\n" + ("" if self.is_kept else "Connection: close\r\n")
        self.socket = None

    def connect(self):
        try:
            self.socket = socket.create_connection(("127.0.0.1", self.load.port), timeout=60)
        except ConnectionRefusedError:
            self.load.faults["refused"] += 1
            return False
        self.socket.setblocking(False)
        self.load.selector.register(self.socket, selectors.EVENT_READ, self)
        return True

    def disconnect(self):
        self.load.selector.unregister(self.socket)
        self.socket.close()
        self.socket = None

    def is_closed(self):
        """Whether the server has closed the connection, which has no request under way. Clients look before they send."""
        try:
            return self.socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except ConnectionError:
            return True

    def send(self):
        if self.socket is not None and self.is_closed():
            self.disconnect()
        if self.socket is None and not self.connect():
            return
        turn, self.count, self.received = self.count % 3, self.count + 1, b""
        if turn == 0:
            self.text = f"{self.number}-{self.count}"
            body = json.dumps({"task": self.text})
            request = f"POST /api/tasks HTTP/1.1\r\n{self.head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        else:
            request = f"GET /api/tasks{f'/{self.identifier}' if turn == 1 else '?limit=2'} HTTP/1.1\r\n{self.head}\r\n"
        self.wanted = b"201" if turn == 0 else b"200"
        self.load.under_way += 1
        try:
            self.socket.sendall(request.encode())
        except ConnectionError:
            self.end("lost while it was sent")

    def receive(self):
        try:
            piece = self.socket.recv(65536)
        except ConnectionError:
            piece = b""
        if not self.wanted:
            # Between two requests the server may only close.
            if piece:
                self.load.faults["answered twice"] += 1
            return self.disconnect()
        self.received += piece
        head, end, body = self.received.partition(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0) if end else 0
        if end and len(body) >= size:
            self.finish(head, body, size)
        elif not piece:
            self.end("lost" if not self.received else "cut")

    def finish(self, head, body, size):
        if head[9:12] != self.wanted:
            return self.end(f"answered with {head[9:12].decode()}")
        if len(body) > size:
            return self.end("answered twice")
        if self.wanted == b"201":
            self.identifier = json.loads(body)["Id"]
            self.load.added[self.text] += 1
        self.load.answered += 1
        self.load.under_way -= 1
        self.wanted = b""
        if b"connection: close" in head.lower():
            self.load.last_answers += self.is_kept
            self.disconnect()

    def end(self, fault):
        self.load.faults[fault] += 1
        self.load.under_way -= 1
        self.wanted = b""
        self.disconnect()


class Load(threading.Thread):
    """All clients, on one thread. Each has one request under way, and sends the next when it has the answer."""

    def __init__(self, port, tokens):
        super().__init__(daemon=True)
        self.port, self.selector, self.stops = port, selectors.DefaultSelector(), False
        self.answered = self.under_way = self.last_answers = 0
        self.added, self.faults = collections.Counter(), collections.Counter()
        self.longest, self.clients = 0, [Client(self, number, token) for number, token in enumerate(tokens)]

    def run(self):
        for client in self.clients:
            client.send()
        last = time.monotonic()
        # One fault is enough: a client that got no answer has nothing to go on with.
        while not self.faults and (not self.stops or self.under_way):
            ready = self.selector.select(1)
            now = time.monotonic()
            if ready:
                self.longest = max(self.longest, now - last)
                last = now
            elif now - last > 60:
                self.faults["unanswered"] += self.under_way
                return
            for key, _ in ready:
                client = key.data
                client.receive()
                if not client.wanted and not self.stops and not self.faults:
                    client.send()


class Restarted:
    """A server that is replaced by its successor on the same socket."""

    def __init__(self, folder, mock, build, **settings):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.database, self.mock, self.build = f"{folder}/tasks.db", mock, build
        self.port = self.listener.getsockname()[1]
        self.settings = {"TASKS_MAX_TASKS": "10000000", "TASKS_LOG_REQUESTS": "errors", **settings}
        self.process = self.successor()
        self.admin_port = self.process.admin_port
        self.await_listening(self.process)

    def successor(self):
        server = TaskServer(f"sqlite:{self.database}", self.mock, self.build, **self.settings)
        del server.settings["TASKS_LISTEN"]
        if hasattr(self, "admin_port"):
            server.settings["TASKS_ADMIN_LISTEN"] = f"127.0.0.1:{self.admin_port}"
        server.inherited = (self.listener.fileno(),)
        server.prefix = [sys.executable, "-c", ACTIVATE, str(self.listener.fileno())]
        server.launch()
        return server

    @staticmethod
    def await_listening(server):
        def listens():
            if not server.is_running():
                raise Failed("task-server ended at its start:\n" + "\n".join(server.log.tail))
            return server.log.events["listening"]
        wait_until("the server listens", 60, listens)

    def restart(self, side_by_side):
        """Replaces the server: the successor starts when the old server has ended, or before that and waits for the database."""
        old = self.process
        if side_by_side:
            self.process = self.successor()
            wait_until("the successor waits", 20, lambda: self.process.log.events["waiting-for-earlier-server"])
            _, code = old.terminate(60)
        else:
            _, code = old.terminate(60)
            self.process = self.successor()
        self.await_listening(self.process)
        if code != 0:
            raise Failed(f"the old server ended with {code}")

    def close(self):
        self.process.terminate(60)
        self.listener.close()


def drill(restarts, requests, build):
    """Restarts a server so often during so many requests. Returns the load when each answer has come."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        mock = Mock(folder, build).start()
        stack.callback(mock.close)
        server = Restarted(folder, mock, build)
        stack.callback(server.close)
        wait_until("the keys are loaded", 60, lambda: server.process.log.events["keys-loaded"])
        load = Load(server.port, [mock.token(f"{number:08}-0000-4000-8000-000000000000") for number in range(CLIENTS)])
        load.start()
        for number in range(restarts):
            part = requests * (number + 1) // (restarts + 1)
            wait_until(f"{part} answers", 600, lambda: load.answered >= part or not load.is_alive())
            server.restart(side_by_side=number % 2 == 1)
        wait_until(f"{requests} answers", 600, lambda: load.answered >= requests or not load.is_alive())
        load.stops = True
        load.join(90)
        stack.close()
        database = sqlite3.connect(f"{folder}/tasks.db")
        with contextlib.closing(database):
            load.kept = collections.Counter(dict(database.execute("SELECT text, count(*) FROM tasks GROUP BY text")))
        return load


def check(case, load, restarts, requests):
    case.assertEqual(dict(load.faults), {})
    case.assertGreaterEqual(load.answered, requests)
    case.assertEqual(load.kept - load.added, collections.Counter(), "tasks that nobody was told of, or that are there twice")
    case.assertEqual(load.added - load.kept, collections.Counter(), "acknowledged tasks that are gone")
    # Kept connections ended with an answer that said so.
    case.assertGreater(load.last_answers, restarts)


def start(listener, changes):
    """Starts a server with this socket, and returns its exit code and what it printed, or (None, …) once it listens."""
    with tempfile.TemporaryDirectory() as folder:
        server = TaskServer(f"sqlite:{folder}/tasks.db", Address(free_port()), "debug")
        del server.settings["TASKS_LISTEN"]
        server.settings.update(changes)
        server.inherited = (listener.fileno(),)
        server.prefix = [sys.executable, "-c", ACTIVATE, str(listener.fileno())]
        server.launch()
        wait_until("it listens or ends", 60, lambda: server.log.events["listening"] or not server.is_running())
        code = None if server.is_running() else server.process.wait()
        server.close()
        server.reader.join(10)
        return code, "\n".join(server.log.tail)


class Restart(unittest.TestCase):
    def test_no_request_is_lost_during_restarts(self):
        check(self, drill(4, 20_000, "debug"), 4, 20_000)

    def test_sockets_of_the_service_manager(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            code, printed = start(listener, {})
            self.assertIsNone(code, printed)
            self.assertIn(f'"listen":"127.0.0.1:{port}"', printed)
            code, printed = start(listener, {"TASKS_LISTEN": "127.0.0.1:0"})
            self.assertEqual(code, 78, printed)
            self.assertIn("TASKS_LISTEN is set, and the service manager passed sockets (LISTEN_FDS); unset TASKS_LISTEN", printed)
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            code, printed = start(silent, {})
            self.assertEqual(code, 1, printed)
            self.assertIn("LISTEN_FDS: descriptor 3 is no TCP socket that listens", printed)

    def test_a_server_waits_for_a_time_only_and_ends_when_it_is_told_to(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            # A patience of 0 and ten seconds to close the database.
            server = Restarted(folder, Address(free_port()), "debug", TASKS_SHUTDOWN_PATIENCE="0")
            stack.callback(server.close)
            impatient, stopped = server.successor(), server.successor()
            for successor in (impatient, stopped):
                stack.callback(successor.close)
                wait_until("it waits", 20, lambda: successor.log.events["waiting-for-earlier-server"])
            self.assertEqual(stopped.terminate(5)[1], 0)
            self.assertEqual(impatient.process.wait(60), 1)
            impatient.reader.join(10)
            self.assertIn("TASKS_ADMIN_LISTEN: cannot listen on", impatient.log.tail[-1])


if __name__ == "__main__":
    count, wanted = [int(word) for word in sys.argv[1:]] or (10, 1_000_000)
    began = time.monotonic()
    done = drill(count, wanted, "release")
    print(f"{count} restarts, {done.answered:,} requests of {CLIENTS} clients in {time.monotonic() - began:.0f} s, "
          f"{sum(done.added.values()):,} tasks added, faults: {dict(done.faults) or 'none'}, longest pause {done.longest:.1f} s")
    check(unittest.TestCase(), done, count, wanted)
