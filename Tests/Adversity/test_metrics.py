"""A real Prometheus scrapes a server, whose metrics serve every rule of deploy/prometheus and every panel of deploy/grafana."""
import json
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from programs import ROOT, MockTest, TaskServer, ask, wait_until
from prometheus import DASHBOARD, RULES, Prometheus, filled


def queries():
    """The expression of every target of the dashboard, with its variables filled in."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], filled(target["expr"], "5m")


class Metrics(MockTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        certificate, key = f"{cls.folder}/server.pem", f"{cls.folder}/server.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        cls.secure = TaskServer(f"sqlite:{cls.folder}/secure.db", cls.mock, "debug", TASKS_TLS_CERT=certificate, TASKS_TLS_KEY=key)
        cls.secure.launch()
        cls.addClassCleanup(cls.secure.close)
        # Its requests fill all families: requests, refusals, lists and commits.
        cls.server = TaskServer(f"sqlite:{cls.folder}/tasks.db", cls.mock, "debug").start()
        cls.addClassCleanup(cls.server.close)
        cls.fields = {"Authorization": "Bearer " + cls.mock.token("00000001-0000-4000-8000-000000000000"), "Content-Type": "application/json"}
        cls.make_requests()

    @classmethod
    def make_requests(cls):
        for method, path, body in (("POST", "/api/tasks", '{"task": "a"}'), ("GET", "/api/tasks", None), ("GET", "/api/tasks?limit=1", None),
                                   ("POST", "/api/tasks", "{"), ("GET", "/%", None)):
            ask(cls.server.port, method, path, cls.fields, body)
        ask(cls.server.port, "GET", "/api/tasks", {"Authorization": "Bearer a.b.c"})

    def page(self, server):
        return ask(server.admin_port, "GET", "/metrics")[2].decode()

    def promtool(self, *arguments, stdin=""):
        done = subprocess.run(["promtool", *arguments], input=stdin, capture_output=True, text=True, cwd=RULES, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_names(self):
        self.promtool("check", "metrics", stdin=self.page(self.server))

    def test_rules(self):
        self.promtool("check", "config", "prometheus.yml")
        self.promtool("test", "rules", "rules-test.yml")
        alerts = set(re.findall(r"alert: (\w+)", (RULES / "rules.yml").read_text()))
        self.assertEqual(alerts, set(re.findall(r"alertname: (\w+)", (RULES / "rules-test.yml").read_text())))
        described = re.findall(r"^- \*\*(TaskServer\w+)\*\*", (ROOT / "docs/operate.md").read_text(), re.MULTILINE)
        self.assertEqual(alerts, set(described))

    def test_the_metrics_to_look_at_first(self):
        rows = re.findall(r"^\| `((?:tasks|process)_\w+)` \|.*\| (.*)\|$", (ROOT / "docs/operate.md").read_text(), re.MULTILINE)
        self.assertEqual(len(rows), 10, rows)
        self.assertLessEqual({name for name, _ in rows}, set(re.findall(r"(?m)^# TYPE (\w+) ", self.page(self.server))))
        alerts = set(re.findall(r"alert: (\w+)", (RULES / "rules.yml").read_text()))
        self.assertLessEqual({alert for _, named in rows for alert in re.findall(r"\w+", named)}, alerts)

    def test_certificate(self):
        def end():
            return [float(line.split()[1]) for line in self.page(self.secure).splitlines()
                    if line.startswith("tasks_certificate_expiry_timestamp_seconds ")]
        seconds = wait_until("the server with a certificate has metrics", 60, end)[0] - time.time()
        self.assertAlmostEqual(seconds / 86400, 30, delta=0.1)

    def test_rules_name_what_is_there(self):
        # An alert on growth does not see the first value of a series, so those of a server without requests must be there.
        samples = re.findall(r"(?m)^(\w+)(?:\{(.*)\})? ", self.page(self.secure))
        rules = "".join(line for line in (RULES / "rules.yml").read_text().splitlines(True) if "#" not in line)
        for name, selector in set(re.findall(r"(?<![:\w])((?:tasks|process)_\w+)(?:\{(.*?)\})?", rules)):
            for label, is_pattern, value in re.findall(r'(\w+)=(~?)"(.*?)"', selector) or [("", "", "")]:
                for one in value.split("|") if is_pattern else [re.escape(value)]:
                    wanted = rf'(?:^|,){label}="{one}"' if label else ""
                    self.assertTrue([name for name_, labels in samples if name_ == name and re.search(wanted, labels)], (name, label, one))

    def test_prometheus(self):
        prometheus = Prometheus(f"{self.folder}/prometheus", self.server, "1s").start()
        self.addCleanup(prometheus.close)
        series = prometheus.query
        wait_until("Prometheus has scraped twice", 60, lambda: series("count_over_time(up[1m]) > 2 and up == 1"))
        for title, expression in queries():
            with self.subTest(title):
                self.make_requests()
                wait_until(f"{title} shows something", 20, lambda: series(expression), pause=0.3)
        firing = [alert["metric"]["alertname"] for alert in series('ALERTS{alertstate="firing"}')]
        self.assertEqual(firing, [])
