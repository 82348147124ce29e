"""A proxy that keeps its connections sends no request into one that the server is about to close."""
import collections
import concurrent.futures
import sys
import time
import uuid

sys.dont_write_bytecode = True

from programs import MockTest, TaskServer, ask
from proxies import NGINX

CLIENTS, ROUNDS = 16, 6
# What nginx of deploy/ and TASKS_KEEP_ALIVE have by default is 60 and 75 seconds; here the sixtieth part, and a quarter more.
PROXY, SERVER = 1.0, "2s"


class BriefNGINX(NGINX):
    """Keeps connections to the server for a second, and enough of them for all clients."""

    def configure(self, server, folder):
        command = super().configure(server, folder)
        with open(command[-1]) as file:
            text = file.read()
        if "keepalive_timeout 60s;" not in text or "keepalive 1;" not in text:
            raise RuntimeError("deploy/nginx/tasks.conf has other lines than this test replaces")
        with open(command[-1], "w") as file:
            file.write(text.replace("keepalive_timeout 60s;", f"keepalive_timeout {PROXY:.0f}s;").replace("keepalive 1;", "keepalive 32;"))
        return command


class KeptConnections(MockTest):
    def test_nginx(self):
        """Additions, which no proxy may repeat, are sent by many clients around the times at which connections are closed."""
        server = TaskServer("memory:", self.mock, "debug", TASKS_LOG_LEVEL="error", TASKS_KEEP_ALIVE=SERVER).start()
        self.addCleanup(server.close)
        proxy = BriefNGINX(server, self.folder)
        self.addCleanup(proxy.close)
        token = self.mock.token(str(uuid.uuid4()))

        def add(number):
            fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            return ask(proxy.port, "POST", "/api/tasks", fields, f'{{"task":"{number}"}}')[0]

        found = collections.Counter()
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
            for turn in range(ROUNDS):
                found.update(clients.map(add, range(CLIENTS)))
                # From well before the first close to well after the second.
                time.sleep(PROXY * (0.9 + 0.25 * turn))
        self.assertEqual(found, {201: CLIENTS * ROUNDS})
        # Connections were kept, and the proxy closed each: there is no moment at which one is lost, however rarely.
        self.assertEqual(server.metric("tasks_connections_cut_total"), 0)
        opened = server.metric("tasks_connections_total")
        self.assertTrue(CLIENTS < opened < CLIENTS * ROUNDS, opened)
