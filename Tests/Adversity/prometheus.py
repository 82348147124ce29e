"""A real Prometheus, which scrapes a server with the configuration and the rules of deploy/prometheus."""
import json
import pathlib
import shutil
import urllib.parse

from programs import ROOT, Failed, Program, ask, free_port, wait_until

RULES, DASHBOARD = ROOT / "deploy/prometheus", ROOT / "deploy/grafana/task-server.json"


def filled(expression, interval):
    """A query of the dashboard with its variables filled in."""
    return expression.replace("$instance", ".*").replace("$__rate_interval", interval)


class Prometheus(Program):
    """Scrapes the server at an interval such as 1s, in a folder that is made for it."""

    def __init__(self, folder, server, interval):
        self.port = free_port()
        shutil.copytree(RULES, folder)
        path = pathlib.Path(folder, "prometheus.yml")
        path.write_text(path.read_text().replace("15s", interval).replace("127.0.0.1:3002", f"127.0.0.1:{server.admin_port}"))
        super().__init__(["prometheus", f"--config.file={path}", f"--storage.tsdb.path={folder}/data",
                          f"--web.listen-address=127.0.0.1:{self.port}"], {})

    def start(self):
        self.launch()
        wait_until("Prometheus is ready", 60, lambda: ask(self.port, "GET", "/-/ready")[0] == 200)
        return self

    def query(self, expression):
        """The series that the expression has now."""
        status, _, body = ask(self.port, "GET", "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        if status != 200:
            raise Failed(f"{expression}: {body}")
        return json.loads(body)["data"]["result"]
