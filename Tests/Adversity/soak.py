#!/usr/bin/env python3
"""Runs task-server under mixed load and one adversity after the other, and holds it to its bounds; ends with exit code 1 and a
sentence for each that was violated. The first half is on SQLite, the second on PostgreSQL; Tests/Adversity/README.md says more.

usage: Tests/Adversity/soak.py [--minutes 30] [--seed NUMBER] [--only NAME] [--store sqlite|postgresql] [--record]
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import adversities
import longest_list
import report
from memory_group import MemoryGroup
from person import Person
from programs import Failed, Mock, TaskServer
from stores import PostgreSQL, SQLite, full_disk_library
from world import MEMORY_LIMIT, World

QUIET = 2.0  # seconds of load alone between two adversities
LAST_CHECKS = 900  # seconds beyond the load, until which everything must have ended


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("SOAK_MINUTES") or 30), help="of load, both stores together")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="the order of adversities and what people do")
    parser.add_argument("--only", help="adversities whose name contains this")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), help="only this one")
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--pause", type=float, default=0.01, help="seconds between two requests of a person")
    parser.add_argument("--record", action="store_true", default=os.environ.get("SOAK_RECORD") == "1", help="writes the result into README.md")
    return parser.parse_args()


class Phase:
    """The load and the adversities on one store."""

    def __init__(self, world, store, group):
        self.world, self.store = world, store
        world.disk, world.database, world.probe, world.past = store.disk, store, None, []
        world.server = TaskServer(store.address, world.mock, group=group, **store.settings,
                                  TASKS_KEY_CACHE_FILE=f"{world.folder}/keys")

    def prepare(self):
        self.world.server.start()
        longest_list.bring_in(self.world.server, self.world.collector)
        self.world.people = [Person(self.world, number) for number in range(self.world.people_count)]
        for person in self.world.people:
            person.start()
        self.world.measure_base()
        self.world.revive("start")

    def suffer(self, seconds, only):
        """All kinds in turns, each turn in another order, until the time is over; but each at least once."""
        world, shuffled = self.world, random.Random(self.world.seed)
        kinds = [each for each in adversities.ALL if each.only in (None, self.store.name.lower()) and (only or "") in each.name]
        end, turn = time.monotonic() + seconds, 0
        while time.monotonic() < end or turn == 0:
            for kind in shuffled.sample(kinds, len(kinds)):
                if turn > 0 and time.monotonic() > end:
                    break
                world.stop.wait(QUIET)
                began = time.monotonic()
                world.suffer(kind)
                print(f"  {self.store.name}: {kind.name}, {time.monotonic() - began:.1f} s", flush=True)
            turn += 1

    def stop_people(self):
        self.world.stop.set()
        for person in self.world.people:
            person.thread.join(Person.LONGEST_STRUGGLE + 60)
            if person.thread.is_alive():
                self.world.violation(f"person {person.number} waits without end")

    def compare_lists(self):
        """What the server says to each person, at the end."""
        models = 0
        for person in self.world.people:
            for model in person.past:
                person.model, person.token, models = model, None, models + 1
                try:
                    if difference := model.difference(person.listed()):
                        self.world.violation(f"at the end, {model.owner}: {difference}")
                except Failed as failure:
                    self.world.violation(f"at the end: {failure}")
        self.world.count("lists compared at the end", models)

    def compare_export(self):
        """What `export` says, of people and of the longest list."""
        path = pathlib.Path(self.world.folder) / f"export-{self.store.name}.jsonl"
        code, errors = self.world.server.command_line("export", str(path))
        if code != 0:
            return self.world.violation(f"export ended with exit code {code}: {errors[-200:]}")
        listed, longest = {}, 0
        with path.open() as lines:
            for line in lines:
                if self.world.collector in line[:60]:
                    longest += '"revision"' in line[-60:] and json.loads(line)["text"] == longest_list.TEXT
                elif '"revision"' in line:
                    task = json.loads(line)
                    listed.setdefault(task["owner"], []).append((task["id"], task["text"], task["completed"]))
        path.unlink()
        for model in (model for person in self.world.people for model in person.past):
            if difference := model.difference(sorted(listed.get(model.owner, []))):
                self.world.violation(f"export, {model.owner}: {difference}")
        if longest != longest_list.COUNT:
            self.world.violation(f"export has {longest} whole tasks of the longest list")

    def finish(self):
        """Ends the load and compares everything."""
        world = self.world
        self.stop_people()
        self.compare_lists()
        world.sample()
        took, code = world.server.terminate(20)
        if code != 0:
            world.violation(f"the last SIGTERM ended with exit code {code} after {took:.1f} s")
        self.compare_export()
        if trouble := self.store.check():
            world.violation(trouble)
        if world.server.log.secrets:
            world.violation(f"{world.server.log.secrets} lines of the log have what looks like a token")
        world.log_bytes += world.server.log.bytes
        world.log_events.update(world.server.log.events)

    def run(self, seconds, only):
        watcher = threading.Thread(target=self.world.watch, daemon=True)
        self.world.stop.clear()
        try:
            self.prepare()
            watcher.start()
            self.suffer(seconds, only)
            self.finish()
        finally:
            self.world.stop.set()
            self.world.server.close()
            self.store.close()


def run(options, folder):
    mock = Mock(folder).start()
    group, reason = MemoryGroup.make(MEMORY_LIMIT << 20)
    world = World(folder, mock, options.seed, options.people, options.pause)
    print(f"soak: {options.minutes:g} minutes, seed {options.seed}, " +
          (f"in a memory cgroup of {MEMORY_LIMIT} MiB" if group else f"no memory cgroup to be had ({reason})"), flush=True)
    library, began = full_disk_library(folder), time.monotonic()
    chosen = [each for each in (SQLite, PostgreSQL) if options.store in (None, each.name.lower())]
    try:
        for store in chosen:
            Phase(world, store(folder, library), group).run(options.minutes * 60 / len(chosen), options.only)
        if group and group.kills():
            world.violation(f"the kernel killed {group.kills()} processes that wanted more than {MEMORY_LIMIT} MiB")
    finally:
        mock.close()
        if group:
            group.close()
    return report.Report(world, options, time.monotonic() - began, bool(group))


def main():
    options = parsed()
    folder = tempfile.mkdtemp(prefix="task-server-soak-")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    watchdog = threading.Timer(options.minutes * 60 + LAST_CHECKS, lambda: os.kill(os.getpid(), signal.SIGTERM))
    watchdog.daemon = True
    watchdog.start()
    try:
        result = run(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(result.text())
    if options.record:
        result.record()
    sys.exit(1 if result.violations else 0)


if __name__ == "__main__":
    main()
