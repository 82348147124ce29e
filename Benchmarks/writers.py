"""Clients that add tasks without a pause while a drill takes servers away, and remember what was acknowledged."""
import collections
import concurrent.futures
import http.client
import json
import threading
import time

from processes import ask


class Writers:
    """They add tasks, half of them with a key that they repeat until they have an answer."""

    def __init__(self, ports, tokens, count=16):
        self.ports, self.tokens, self.count, self.stop = ports, tokens, count, threading.Event()
        self.kept, self.statuses, self.lock = collections.defaultdict(set), collections.Counter(), threading.Lock()
        self.times = [0]  # of the acknowledgements

    def __enter__(self):
        self.threads = concurrent.futures.ThreadPoolExecutor(self.count)
        self.written = [self.threads.submit(self.write, number) for number in range(self.count)]
        return self

    def __exit__(self, *_):
        self.stop.set()
        for writer in self.written:
            writer.result()

    def write(self, writer):
        count = 0
        while not self.stop.is_set():
            count += 1
            who, text = (count * self.count + writer) % len(self.tokens), f"{writer}.{count}"
            key = {"Idempotency-Key": text} if count % 2 else {}
            while True:
                try:
                    port = self.ports[count // 2 % len(self.ports)]
                    status, _ = ask(port, "/api/tasks", self.tokens[who], "POST", json.dumps({"task": text}), key)
                except (OSError, http.client.HTTPException):
                    status = "cut"
                with self.lock:
                    self.statuses[status] += 1
                    if status == 201:
                        self.kept[who].add(text)
                        self.times.append(time.monotonic())
                if status == 201 or not key or self.stop.is_set():
                    break
                time.sleep(0.1)
