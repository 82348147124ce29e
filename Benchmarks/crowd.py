"""Databases of many people, and the requests of all of them in turn."""
import os
import re
import subprocess

from processes import ROOT


def write_tasks(path, owners, count):
    """As many tasks of each of the people as `task-server import` reads them."""
    tasks = ['","id":%d,"text":"Buy milk and bread, number %d","completed":false,"created":"2026-11-20T17:33:51.123Z",'
             '"modified":"2026-11-20T17:33:51.123Z","revision":1}\n' % (number, number) for number in range(1, count + 1)]
    with open(path, "w") as lines:
        for owner in sorted(owners):
            head = '{"owner":"' + owner
            lines.write(head + head.join(tasks) + '{"owner":"%s","next":%d}\n' % (owner, count + 1))
        lines.write('{"end":true,"tasks":%d}\n' % (len(owners) * count))


def wrk(port, connections, seconds, settings):
    """The requests that scale.lua makes with the settings: what wrk printed, how many were answered, and what was wrong."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", f"{ROOT}/Benchmarks/scale.lua",
               f"http://127.0.0.1:{port}"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **settings}).stdout
    return printed, int(re.search(r"(\d+) requests in", printed)[1]), re.findall(r"Non-2xx.*|Socket errors.*", printed)
