"""A stream of changes through the proxies of deploy/: each event comes at once, silence ends no stream, and its end is in order."""
import concurrent.futures
import http.client
import json
import sys
import uuid

sys.dont_write_bytecode = True

from programs import MockTest, TaskServer, ask, wait_until
from proxies import HAProxy, NGINX

# The server sends a comment after 15 s of silence, and both proxies give up after 30 s of it.
COMMENTS = 3


class Stream:
    """A client that reads one event or comment after the other."""

    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.connection.request("GET", "/api/tasks/changes", headers={"Authorization": f"Bearer {token}", "Accept": "text/event-stream"})
        self.answer = self.connection.getresponse()

    def next(self):
        """Its lines, without the empty one at its end; none at the end of the stream, which is an error if it is not in order."""
        lines = []
        while (line := self.answer.readline().decode()) not in ("\n", ""):
            lines.append(line.rstrip("\n"))
        return lines

    def data(self):
        """What the next event says."""
        return json.loads(next(line for line in self.next() if line.startswith("data: "))[6:])

    def close(self):
        self.answer.close()
        self.connection.close()


class Streams(MockTest):
    def setUp(self):
        self.server = TaskServer("memory:", self.mock, "debug", TASKS_LOG_LEVEL="error").start()
        self.addCleanup(self.server.close)

    def add(self, token, text):
        fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.assertEqual(ask(self.server.port, "POST", "/api/tasks", fields, json.dumps({"task": text}))[0], 201)

    def follow(self, kind):
        """Follows the changes of a person through a proxy, which nothing else tells to send what it has; returns the open stream."""
        proxy, token = kind(self.server, self.folder), self.mock.token(str(uuid.uuid4()))
        self.addCleanup(proxy.close)
        left, stream = Stream(proxy.port, token), Stream(proxy.port, token)
        self.addCleanup(stream.close)
        self.assertEqual((stream.answer.status, stream.answer.headers["Content-Type"]), (200, "text/event-stream"))
        self.assertEqual(stream.data()["changed"], [])
        for text in ["first", "second"]:
            self.add(token, text)
            self.assertEqual([task["task"] for task in stream.data()["changed"]], [text])
        left.close()
        self.assertEqual([stream.next() for _ in range(COMMENTS)], [[":"]] * COMMENTS)
        self.add(token, "after a silence")
        self.assertEqual([task["task"] for task in stream.data()["changed"]], ["after a silence"])
        return stream

    def test_reloads(self):
        """A person may have eight streams, so a proxy must pass on at once that a client left."""
        for kind in [NGINX, HAProxy]:
            proxy, token = kind(self.server, self.folder), self.mock.token(str(uuid.uuid4()))
            self.addCleanup(proxy.close)
            for _ in range(9):
                stream = Stream(proxy.port, token)
                self.assertEqual(stream.answer.status, 200)
                stream.data()
                stream.close()
                wait_until(f"{kind.name} has ended the stream", 10, lambda: self.server.metric("tasks_streams_open") == 0)

    def test_deployed_proxies(self):
        with concurrent.futures.ThreadPoolExecutor() as clients:
            streams = list(clients.map(self.follow, [NGINX, HAProxy]))
            # The proxies have told the server that the other streams were left.
            wait_until("two streams are open", 30, lambda: self.server.metric("tasks_streams_open") == 2)
            clients.submit(self.server.terminate, 60)
            for stream in streams:
                self.assertEqual(stream.data(), {"reason": "server.stopping"})
                self.assertEqual(stream.next(), [])
