#!/usr/bin/env python3
"""Reads and adds tasks over four kept connections until SIGTERM, then says what was answered, as a line of JSON.

A request that ends without an answer (or with 502) is counted as cut and repeated once, as clients may do: those that read,
and those that add with an Idempotency-Key. In the end every task that was acknowledged has to be in the list, once.

usage: scripts/keep-asking.py PAGE TOKEN
"""
import collections
import http.client
import json
import signal
import sys
import threading
import urllib.parse
import uuid

if len(sys.argv) != 3:
    sys.exit(__doc__)
page, token = urllib.parse.urlsplit(sys.argv[1]), sys.argv[2]
stop, lock = threading.Event(), threading.Lock()
answers, added, cut = collections.Counter(), [], 0


class Caller:
    def __init__(self):
        self.connection = http.client.HTTPConnection(page.hostname, page.port, timeout=40)

    def ask(self, method, body=None, path="/api/tasks", key=None):
        global cut
        headers = {"Authorization": f"Bearer {token}"}
        if key:
            headers |= {"Idempotency-Key": key, "Content-Type": "application/x-www-form-urlencoded"}
        for repeated in (False, True):
            try:
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read().decode()
                if answer.status == 502 and not repeated:
                    raise http.client.BadStatusLine("502")
            except (http.client.HTTPException, OSError) as error:
                self.connection.close()
                with lock:
                    cut += 1
                    if repeated:
                        answers[f"{method} {error!r}"] += 1
                continue
            with lock:
                answers[f"{method} {answer.status}"] += 1
            return answer.status, text
        return None, None

    def run(self):
        while not stop.wait(0.02):
            self.ask("GET", path="/api/tasks?limit=1")
            text = str(uuid.uuid4())
            status, _ = self.ask("POST", f"task={text}", key=text)
            if status == 201:
                with lock:
                    added.append(text)


signal.signal(signal.SIGTERM, lambda *_: stop.set())
threads = [threading.Thread(target=Caller().run, daemon=True) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sums = dict(sorted(answers.items()))
listed = collections.Counter(task["task"] for task in json.loads(Caller().ask("GET")[1]))
print(json.dumps({
    "answers": sums, "cut": cut, "lost": sum(listed[text] == 0 for text in added),
    "twice": sum(count > 1 for count in listed.values()),
}))
