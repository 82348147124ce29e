#!/usr/bin/env python3
"""Restarts servers under the load of 64 clients: no request is refused, lost or answered twice, and each task that was acknowledged is in
the database once. The server of SQLite has a socket that the test holds as systemd would; those of PostgreSQL are two behind HAProxy.
"""
import argparse
import collections
import contextlib
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

from programs import Mock, wait_until
from clients import Load
from replaced import Balanced, Restarted, is_used

CLIENTS = 64


def drill(kind, restarts, requests, build, **options):
    """Restarts servers so often during so many requests, and changes their tables. Returns the load when each answer has come."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        mock = Mock(folder, build).start()
        stack.callback(mock.close)
        service = kind(folder, mock, build, **options)
        stack.callback(service.close)
        service.await_keys()
        load = Load(service.port, [mock.token(f"{number:08}-0000-4000-8000-000000000000") for number in range(CLIENTS)])
        load.start()

        def await_load(what, has_come):
            wait_until(what, 3600, lambda: has_come() or not load.is_alive())

        def await_answers(parts):
            least = requests * parts // (restarts + 2)
            await_load(f"{least} answers", lambda: load.answered >= least)

        for number in range(restarts):
            await_answers(number + 1)
            service.restart(number)
            await_load("the new server gets requests", lambda: is_used(service.process))
        await_answers(restarts + 1)
        service.migrate()
        await_answers(restarts + 2)
        load.stops = True
        load.join(90)
        load.kept, load.words = service.counts(), "\n".join(service.words())
        return load


def check(case, load, requests):
    case.assertEqual(dict(load.faults), {}, load.words)
    case.assertGreaterEqual(load.answered, requests)
    case.assertEqual(load.kept - load.added, collections.Counter(), "tasks that nobody was told of, or that are there twice")
    case.assertEqual(load.added - load.kept, collections.Counter(), "acknowledged tasks that are gone")


class Restart(unittest.TestCase):
    def test_no_request_is_lost_during_restarts(self):
        load = drill(Restarted, 4, 20_000, "debug")
        check(self, load, 20_000)
        # Kept connections ended with an answer that said so.
        self.assertGreater(load.last_answers, 4)

    def test_no_request_is_lost_while_servers_behind_haproxy_are_replaced(self):
        check(self, drill(Balanced, 2, 5_000, "debug"), 5_000)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", nargs="?", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--older", metavar="PROGRAM", help="an older task-server, which both servers of PostgreSQL are at first")
    options = parser.parse_args()
    began = time.monotonic()
    kind, more = (Restarted, {}) if options.store == "sqlite" else (Balanced, {"older": options.older})
    done = drill(kind, options.restarts, options.requests, "release", **more)
    print(f"{options.restarts} restarts, {done.answered:,} requests of {CLIENTS} clients in {time.monotonic() - began:.0f} s, "
          f"{sum(done.added.values()):,} tasks added, faults: {dict(done.faults) or 'none'}, longest pause {done.longest:.1f} s")
    check(unittest.TestCase(), done, options.requests)


if __name__ == "__main__":
    main()
