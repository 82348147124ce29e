"""Runs files of tests two at a time, each in a process and with servers of its own: a browser mostly waits.

usage: run.py FILE...
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import time

# They measure the page, and are not to wait for others.
ALONE = ["test_many"]
# The longest first, so that neither of the two is left with it at the end.
FIRST = ["test_planning", "test_session", "test_journey", "test_writing", "test_trouble", "test_access", "test_contract"]


def run(name):
    """Whether a file passed, and how many tests it has; what it says is printed in one piece, at its end."""
    start = time.monotonic()
    process = subprocess.run(
        [sys.executable, "-m", "unittest", name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"-- {name}, {time.monotonic() - start:.0f} s\n{process.stdout}", flush=True)
    counts = re.findall(r"^Ran (\d+) tests?", process.stdout, re.MULTILINE)
    count = int(counts[-1]) if counts else 0
    # Before Python 3.12 a file without tests passes.
    return process.returncode == 0 and count > 0, count


def main(names):
    start = time.monotonic()
    together = [name for name in FIRST if name in names]
    together += [name for name in names if name not in FIRST + ALONE]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = dict(zip(together, pool.map(run, together)))
    results |= {name: run(name) for name in names if name in ALONE}
    failed = [name for name, (passed, _) in results.items() if not passed]
    print(f"Ran {sum(count for _, count in results.values())} tests in {time.monotonic() - start:.0f} s")
    sys.exit(f"FAILED: {' '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main([pathlib.Path(name).stem for name in sys.argv[1:]])
