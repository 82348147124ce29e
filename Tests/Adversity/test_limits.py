"""The program within limits of the operating system: few descriptors, and 256 MiB of memory with a long list and 64 slow readers.

The longest list takes a release build; `make soak` has it.
"""
import shutil
import socket
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

import adversities
import longest_list
from memory_group import MemoryGroup
from programs import Mock, TaskServer, ask, wait_until
from stores import PostgreSQL, SQLite, full_disk_library
from world import MEMORY_LIMIT, World

BUILD = "debug"
TASKS = 1000  # 47 MiB of JSON, of which each reader of another state used to cost as much


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="task-server-limits-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.mock = Mock(cls.folder, BUILD).start()
        cls.addClassCleanup(cls.mock.close)

    def cpu(self, server):
        with open(f"/proc/{server.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def test_few_descriptors(self):
        """More clients than descriptors: no busy loop, no flood of lines, and later clients are served."""
        for limit in (64, 256, 1024):
            with self.subTest(descriptors=limit):
                server = TaskServer("memory:", self.mock, BUILD, prefix=["prlimit", f"--nofile={limit}:{limit}", "--"])
                self.addCleanup(server.close)
                server.start()
                token = self.mock.token("00000000-0000-4000-8000-000000000001")
                clients = []
                try:
                    for _ in range(min(limit + 100, 1100)):
                        clients.append(socket.create_connection(("127.0.0.1", server.port), timeout=5))
                    log, cpu = server.log.bytes, self.cpu(server)
                    time.sleep(1)
                    self.assertLess(server.log.bytes - log, 100_000, "bytes of log in a second")
                    self.assertLess(self.cpu(server) - cpu, 0.5, "seconds of CPU in a second without requests")
                finally:
                    for client in clients:
                        client.close()
                authorization = {"Authorization": f"Bearer {token}"}
                wait_until("a good client is served", 30,
                           lambda: ask(server.port, "GET", "/api/tasks", authorization, timeout=30)[0] == 200)
                server.terminate(15)

    def test_memory(self):
        """In a cgroup where one can be had, the kernel's word counts, and anyhow what was resident at most."""
        library = full_disk_library(self.folder)
        for kind in (SQLite, PostgreSQL):
            with self.subTest(kind.name):
                store = kind(self.folder, library)
                self.addCleanup(store.close)
                group, reason = MemoryGroup.make(MEMORY_LIMIT << 20)
                if group:
                    self.addCleanup(group.close)
                else:
                    print(f"test_limits: no memory cgroup to be had ({reason}); resident memory is compared alone", file=sys.stderr)
                world = World(self.folder, self.mock, patience=3)
                world.server = TaskServer(store.address, self.mock, BUILD, group=group)
                self.addCleanup(world.server.close)
                world.server.start()
                longest_list.bring_in(world.server, world.collector, TASKS)
                try:
                    adversities.slow_readers_of_the_longest_list(world)
                finally:
                    self.assertEqual(group.kills() if group else 0, 0, "the kernel killed the server for lack of memory")
                self.assertTrue(world.server.is_running())
                most = world.server.figures()["most"]
                print(f"test_limits: {kind.name}: {most:.0f} MiB resident at most, in a memory cgroup: {bool(group)}", file=sys.stderr)
                self.assertLessEqual(most, MEMORY_LIMIT)
                world.server.terminate(80)


if __name__ == "__main__":
    unittest.main()
