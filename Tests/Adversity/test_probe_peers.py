"""`mock-authority probe` against the servers of Benchmarks, whose tokens golang-jwt and PyJWT check."""
import base64
import json
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True

from programs import AUTHORITY, ROOT, MockTest, Program, ask, free_port, wait_until  # noqa: I001: it knows the path of the next one
from processes import build_go

SCHEMA = "CREATE TABLE tasks(id INTEGER PRIMARY KEY, task TEXT, owner TEXT, completed INTEGER, date TEXT)"
# Neither golang-jwt 5.2 nor PyJWT 2.6 of Debian 12 looks at this field of the header. PyJWT 2.10 of Debian 13 does, and takes a text for a time.
ACCEPTED = [{"crit-header"}, {"exp-text"}]
REFUSED = {
    "expired", "not-yet-valid", "no-exp", "wrong-aud", "wrong-iss", "wrong-tenant", "unpublished-key", "other-key-same-kid", "bad-signature",
    "truncated", "alg-none", "hs256-with-public-key", "not-json"}


class ProbeOfPeers(MockTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(f"{cls.folder}/jwks.json", "wb") as file:
            file.write(ask(cls.mock.port, "GET", f"{AUTHORITY}/b2c_1_sign_in/discovery/v2.0/keys")[2])
        cls.token = ask(cls.mock.port, "GET", "/_mock/token?user=alice")[2].decode().strip()

    def verdicts(self, command, port):
        """Probes a server that runs with this command: the names of the requests, by verdict."""
        part = self.token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        database = f"{self.folder}/{port}.db"
        with sqlite3.connect(database) as connection:
            connection.execute(SCHEMA)
        connection.close()
        server = Program(command, {
            "ISSUER": claims["iss"], "AUDIENCE": claims["aud"], "JWKS": f"{self.folder}/jwks.json", "PORT": str(port), "DB": database,
            "PYTHONDONTWRITEBYTECODE": "1"})
        server.launch()
        self.addCleanup(server.close)
        wait_until("the server answers", 60, lambda: ask(port, "GET", "/api/tasks")[0] == 401)
        # It reads its keys from a file, so it need not be given time to load new ones.
        done = subprocess.run(
            [ROOT / ".build/debug/mock-authority", "probe", f"http://127.0.0.1:{port}/api/tasks", "--wait", "0", "--pace", "0", "--format", "json",
             "--authority", f"http://127.0.0.1:{self.mock.port}"], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1, done)
        found = {"breach": set(), "setting": set(), "note": set(), "right": set()}
        for row in json.loads(done.stdout)["results"]:
            found[row["verdict"]].add(row["name"])
        self.assertTrue(any(holes <= found["breach"] for holes in ACCEPTED), found)
        self.assertLessEqual(REFUSED, found["right"])
        self.assertLessEqual({"new-key", "typ-other", "aud-array", "wrong-policy", "no-policy"}, found["note"])

    def test_go(self):
        build_go(f"{ROOT}/.build/bench")
        self.verdicts([ROOT / ".build/bench/go-server"], free_port())

    def test_fastapi(self):
        port = free_port()
        self.verdicts(["/usr/bin/uvicorn", "app:app", "--app-dir", f"{ROOT}/Benchmarks/fastapi", "--port", str(port)], port)
