"""A memory cgroup for a program under test, version 1 or 2, where one can be had."""
import contextlib
import os
import pathlib
import time


class MemoryGroup:
    """A group with a limit; a program whose command begins with `prefix` runs in it and is killed beyond the limit."""

    def __init__(self, folder, limit_name, limit):
        self.folder, self.limit = folder, limit
        (folder / limit_name).write_text(str(limit))
        self.prefix = ["sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh"]

    @classmethod
    def make(cls, limit):
        """A group, or nothing with the reason."""
        reasons = []
        for root, limit_name in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            folder = pathlib.Path(root) / f"task-server-test-{os.getpid()}-{time.monotonic_ns()}"
            try:
                if not os.path.exists(f"{root}/cgroup.procs"):
                    raise FileNotFoundError(f"{root} is no hierarchy")
                folder.mkdir()
                try:
                    return cls(folder, limit_name, limit), ""
                except OSError:
                    folder.rmdir()
                    raise
            except OSError as error:
                reasons.append(str(error))
        return None, "; ".join(reasons)

    def kills(self):
        """How many processes the kernel ended for lack of memory."""
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                lines = dict(line.split() for line in (self.folder / name).read_text().splitlines())
                return int(lines.get("oom_kill", 0))
        return 0

    def close(self):
        for _ in range(50):  # processes that were killed a moment ago still count
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.1)
