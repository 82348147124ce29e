"""Runs files of tests four at a time, each in a process and with servers of its own: a browser mostly waits.

usage: run.py FILE...
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import time
import unittest

TOGETHER = 4
# The longest first, so that no process is left with one at the end.
FIRST = [
    "test_kept", "test_keys", "test_daily", "test_planning", "test_writing", "test_session", "test_access", "test_repeating",
    "test_authority_page", "test_views", "test_trouble", "test_contract"]
SLOWEST = 10
TOOK = r"took ([\d.]+) s: (\S+)\n"


class TimedResult(unittest.TextTestResult):
    """Prints how long each test took."""

    def startTest(self, test):
        super().startTest(test)
        self.begin = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        print(f"took {time.monotonic() - self.begin:.1f} s: {test.id()}", flush=True)


def run_here(name):
    unittest.main(name, argv=[name], testRunner=unittest.TextTestRunner(resultclass=TimedResult))


def run(name):
    """Whether a file passed, and how long each of its tests took; what it says is printed in one piece, at its end."""
    start = time.monotonic()
    process = subprocess.run(
        [sys.executable, "-c", f"import run; run.run_here({name!r})"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    took = [(float(seconds), test) for seconds, test in re.findall(TOOK, process.stdout)]
    print(f"-- {name}, {time.monotonic() - start:.0f} s\n{re.sub(TOOK, '', process.stdout)}", flush=True)
    # Before Python 3.12 a file without tests passes.
    return process.returncode == 0 and len(took) > 0, took


def main(names):
    start = time.monotonic()
    together = [name for name in FIRST if name in names]
    together += [name for name in names if name not in FIRST]
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        results = dict(zip(together, pool.map(run, together)))
    times = sorted((each for _, took in results.values() for each in took), reverse=True)
    print("The slowest tests:")
    for seconds, test in times[:SLOWEST]:
        print(f"{seconds:6.1f} s  {test}")
    print(f"Ran {len(times)} tests in {time.monotonic() - start:.0f} s")
    failed = [name for name, (passed, _) in results.items() if not passed]
    sys.exit(f"FAILED: {' '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main([pathlib.Path(name).stem for name in sys.argv[1:]])
