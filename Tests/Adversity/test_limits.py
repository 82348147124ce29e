"""The program within a limit of the operating system: 256 MiB of memory with a long list and 64 slow readers.

The longest list takes a release build; `make soak` has it.
"""
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import adversities
import longest_list
from memory_group import MemoryGroup
from programs import Mock, TaskServer
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
