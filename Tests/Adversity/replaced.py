"""Servers that are replaced while clients use them: one on a socket of the service manager, and two behind HAProxy."""
import collections
import contextlib
import pathlib
import socket
import sqlite3
import sys
import time

from programs import Failed, TaskServer, wait_until  # first, since it makes the next one known
from database import Database
from proxies import Balancer

# Starts a program as a service manager does: the socket is descriptor 3.
ACTIVATE = """import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])"""
SETTINGS_OF_ALL = {"TASKS_MAX_TASKS": "10000000"}
SETTINGS = {**SETTINGS_OF_ALL, "TASKS_LOG_REQUESTS": "errors"}
# HAProxy asks every second whether a server is ready, and leaves it out after the second no.
BALANCED = {**SETTINGS, "TASKS_SHUTDOWN_DELAY": "3s"}
COUNTS = "SELECT text, count(*) FROM tasks GROUP BY text"


class Restarted:
    """A server on SQLite that is replaced by its successor on the same socket."""

    def __init__(self, folder, mock, build, **settings):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.database, self.mock, self.build = f"{folder}/tasks.db", mock, build
        self.port = self.listener.getsockname()[1]
        self.settings = {**SETTINGS, **settings}
        self.process = self.successor()
        self.admin_port = self.process.admin_port
        self.await_listening(self.process)

    def successor(self):
        server = TaskServer(f"sqlite:{self.database}", self.mock, self.build, **self.settings)
        del server.settings["TASKS_LISTEN"]
        if hasattr(self, "admin_port"):
            server.admin_port, server.settings["TASKS_ADMIN_LISTEN"] = self.admin_port, f"127.0.0.1:{self.admin_port}"
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

    def await_keys(self):
        wait_until("the keys are loaded", 60, lambda: self.process.log.events["keys-loaded"])

    def restart(self, number):
        """Replaces the server: the successor starts when the old server has ended, or, every second time, before that and waits."""
        old = self.process
        if number % 2 == 1:
            self.process = self.successor()
            wait_until("the successor waits", 20, lambda: self.process.log.events["waiting-for-earlier-server"])
            end(old)
        else:
            end(old)
            self.process = self.successor()
        self.await_listening(self.process)

    def migrate(self):
        """The tables of a file belong to one server, which nobody migrates while it runs."""

    def counts(self):
        """How often each text is there, once the server has ended."""
        self.close()
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            return collections.Counter(dict(database.execute(COUNTS)))

    def words(self):
        return self.process.log.tail

    def close(self):
        self.process.terminate(60)
        self.listener.close()


class Balanced:
    """Two servers on PostgreSQL behind HAProxy, which are replaced one after the other on their own ports.

    With `older`, another program, the first two are of that program, which also makes the tables. It may know no TASKS_SHUTDOWN_DELAY, so
    HAProxy is told to leave such a server out before it ends.
    """

    def __init__(self, folder, mock, build, older=None):
        self.stack, self.mock, self.build, self.older = contextlib.ExitStack(), mock, build, older
        self.database = self.stack.enter_context(Database(f"{folder}/postgresql"))
        self.database.sql("CREATE DATABASE tasks")
        self.address = self.database.address("tasks")
        self.servers = [TaskServer(self.address, mock, build, **(SETTINGS_OF_ALL if older else BALANCED)) for _ in range(2)]
        for server in self.servers:
            self.stack.callback(server.close)
            server.command = [pathlib.Path(older)] if older else server.command
            server.start()
        self.balancer = Balancer(self.servers, folder)
        self.stack.callback(self.balancer.close)
        self.port = self.balancer.port

    def await_keys(self):
        """Both servers are ready, so they have their keys."""

    def restart(self, number):
        """Replaces one of the servers."""
        old, name = self.servers[number % 2], f"ready/task-server-{1 + number % 2}"
        is_older = self.older and number < 2
        if is_older:
            self.balancer.order(f"set server {name} state drain")
            time.sleep(1)
        end(old)
        self.process = TaskServer(self.address, self.mock, self.build, **BALANCED)
        self.process.settings["TASKS_LISTEN"], self.process.port = old.settings["TASKS_LISTEN"], old.port
        self.servers[number % 2] = self.process
        self.stack.callback(self.process.close)
        self.process.start()
        if is_older:
            self.balancer.order(f"set server {name} state ready")

    def migrate(self):
        """Changes the tables while both servers run, as the migration of a version to come would."""
        self.database.sql("BEGIN; SET LOCAL lock_timeout = '5s'; ALTER TABLE attempts ADD COLUMN newer text; "
                          "ALTER TABLE tasks ADD COLUMN newer text; INSERT INTO task_server_schema VALUES (1000); COMMIT", "tasks")

    def counts(self):
        """How often each text is there."""
        rows = (line.rpartition("|") for line in self.database.sql(COUNTS, "tasks").splitlines())
        return collections.Counter({text: int(count) for text, _, count in rows})

    def words(self):
        return self.balancer.lines[-20:] + [line for server in self.servers for line in list(server.log.tail)[-10:]]

    def close(self):
        self.stack.close()


def end(server):
    _, code = server.terminate(60)
    if code != 0:
        raise Failed(f"the old server ended with {code}")


def is_used(server):
    """Whether clients have sent requests to it; checks of its health have no token."""
    return server.metric("tasks_token_verification_duration_seconds_count") > 0
