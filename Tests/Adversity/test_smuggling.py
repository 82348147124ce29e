"""No request that is hidden in another one is served, and no one gets an answer that is not theirs: through nginx, through
HAProxy, and directly."""
import collections
import concurrent.futures
import json
import re
import socket
import ssl
import sys
import urllib.parse
import urllib.request
import uuid

sys.dont_write_bytecode = True

from programs import ROOT, Failed, MockTest, TaskServer, ask, wait_until
from proxies import HAProxy, NGINX, Direct
from smuggling import payloads

# What a server without a proxy rightly takes for two requests: these fields say nothing about the end of the first.
SECOND_REQUESTS = ("sooner: TE: chunked", "sooner: Transfer_Encoding: chunked")


class Attack:
    """An attacker and a victim of one server, behind one proxy or none."""

    def __init__(self, mock, route, folder, build):
        self.route_name, self.extra = route.name, 0
        self.server = TaskServer("memory:", mock, build, TASKS_MAX_TASKS="100000", TASKS_LOG_LEVEL="error").start()
        self.route = route(self.server, folder)
        self.attacker, self.victim = (mock.token(str(uuid.uuid4())) for _ in range(2))
        status, fields, self.expected = self.ask(self.victim, "POST", "/api/tasks?task=precious")
        if status != 201:
            raise Failed(f"{route.name}: the victim's task was answered {status}")
        self.place = fields["Location"]

    def ask(self, token, method, path):
        status, fields, body = ask(self.route.port, method, path, {"Authorization": f"Bearer {token}"}, timeout=20)
        return status, fields, body

    def send(self, payload):
        """Sends it, reads what comes at once, and leaves the connection open."""
        connection = socket.create_connection(("127.0.0.1", self.route.port), timeout=10)
        answer = b""
        try:
            connection.sendall(payload)
            connection.settimeout(0.1)
            while piece := connection.recv(65536):
                answer += piece
                connection.settimeout(0.01)
        except OSError:
            pass
        return connection, answer

    def counts(self):
        """Requests that the server answered or refused, and that the proxy forwarded."""
        answered = self.server.metric("tasks_http_requests_total") + self.server.metric("tasks_http_faults_total")
        return answered - self.extra, self.route.forwarded

    def victim_is_served(self):
        status, _, body = self.ask(self.victim, "GET", self.place)
        return (status, body) == (200, self.expected)

    def smuggled(self):
        """How many tasks the hidden requests added; they are removed."""
        texts = collections.Counter(task["task"] for task in json.loads(self.without_proxy("GET", "/api/tasks")))
        for text in texts:
            self.without_proxy("DELETE", "/api/tasks?" + urllib.parse.urlencode({"task": text}))
        return texts.total() - texts["outer"]

    def without_proxy(self, method, path):
        """A request of the attacker's to the server itself, which no proxy counts."""
        status, _, body = ask(self.server.port, method, path, {"Authorization": f"Bearer {self.attacker}"})
        if status not in (200, 204):
            raise Failed(f"{method} {path} was answered {status}")
        self.extra += 1
        return body

    def is_counted(self, before):
        """Whether the server had no more requests than the proxy forwarded to it."""
        served, forwarded = self.counts()
        return served - before[0] <= forwarded - before[1]

    def try_out(self, name, payload, is_second=False):
        """What went wrong, as a sentence; nothing if all is well."""
        before = self.counts()
        connection, answer = self.send(payload)
        with connection:
            served = [self.victim_is_served() for _ in range(2)]
        served += [self.victim_is_served() for _ in range(2)]
        if not all(served):
            return f"{self.route_name}: {name}: the victim got another answer"
        smuggled = self.smuggled() if answer else 0
        if self.route.forwarded is None:
            separate = any(each in name for each in SECOND_REQUESTS)
        else:
            try:
                wait_until("the proxy's log tells of all requests", 2, lambda: self.is_counted(before))
            except Failed:
                # A request of the payload before may be counted late; a hidden one is hidden again.
                if not is_second:
                    return self.try_out(name, payload, is_second=True)
                return f"{self.route_name}: {name}: the server had more requests than were forwarded: {before} -> {self.counts()}"
            # Where the proxy itself saw two requests of the attacker's, none was hidden.
            separate = self.counts()[1] - before[1] >= len(served) + 1 + smuggled
        if not smuggled or separate:
            return None
        if not is_second:  # a task of the payload before may be added late, too
            return self.try_out(name, payload, is_second=True)
        return f"{self.route_name}: {name}: the hidden request was served: {answer[:100]}"

    def close(self):
        self.route.close()
        self.server.close()


def run_all(attack):
    """Every payload through one route: how many, and what went wrong."""
    wrong, count = [], 0
    for name, payload in payloads(attack.attacker.encode()):
        count += 1
        if found := attack.try_out(name, payload):
            wrong.append(found)
    return count, wrong


class Smuggling(MockTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attacks = []
        for route in (Direct, NGINX, HAProxy):
            cls.attacks.append(Attack(cls.mock, route, cls.folder, cls.BUILD))
            cls.addClassCleanup(cls.attacks[-1].close)

    def test_no_hidden_request_is_served(self):
        """More than a hundred through each; no one gets what belongs to another person."""
        with concurrent.futures.ThreadPoolExecutor(len(self.attacks)) as pool:
            for attack, (count, wrong) in zip(self.attacks, pool.map(run_all, self.attacks)):
                with self.subTest(attack.route_name):
                    self.assertGreater(count, 300)
                    self.assertEqual(wrong, [], f"{len(wrong)} of {count}")

    def test_what_was_smuggled_would_be_seen(self):
        """The same look at a second request that is no part of the first: its task is found, and it is counted."""
        for attack in self.attacks:
            with self.subTest(attack.route_name):
                token = attack.attacker.encode()
                request = b"POST /api/tasks?task=%s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + token + b"\r\nContent-Length: 0\r\n\r\n"
                before = attack.counts()[0]
                connection, _ = attack.send(request % b"outer" + request % b"smuggled")
                with connection:  # a proxy may give up what waits behind an answer when its client leaves
                    wait_until("both requests are counted", 20, lambda: attack.counts()[0] == before + 2)
                self.assertEqual(attack.smuggled(), 1)

    def test_the_site_of_nginx_serves_tls_and_leads_there(self):
        """Its Strict-Transport-Security is that of docs/operate.md."""
        route = next(attack.route for attack in self.attacks if attack.route_name == "nginx")
        status, fields, _ = ask(route.plain_port, "GET", "/api/tasks?limit=2")
        self.assertEqual((status, fields["Location"]), (308, "https://tasks.example.com/api/tasks?limit=2"))
        documented = re.search(r"`Strict-Transport-Security: ([^`]+)`", (ROOT / "docs/operate.md").read_text())[1]
        url = f"https://127.0.0.1:{route.secure_port}/healthz"
        with urllib.request.urlopen(url, timeout=20, context=ssl._create_unverified_context()) as answer:
            self.assertEqual((answer.status, answer.headers["Strict-Transport-Security"]), (200, documented))
