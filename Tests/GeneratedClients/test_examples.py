"""The clients of Examples/ keep one list on two devices, by question and by stream, with both programs."""

import http.server
import json
import subprocess
import threading
import unittest

import test_generated_clients as generated
from test_generated_clients import BUILD, PATIENCE, PERSON, run, servers

EXAMPLES = servers.ROOT / "Examples"


class Ending(http.server.BaseHTTPRequestHandler):
    """A server whose streams end, each for the next reason."""

    def do_GET(self):
        streams = self.headers.get("Accept", "").startswith("text/event-stream")
        reason = self.server.reasons.pop(0) if streams else None
        data = {"reason": reason} if streams else {"changed": [], "removed": [], "next": "point", "more": False}
        self.send_response(200)
        self.end_headers()
        self.wfile.write((f"event: end\ndata: {json.dumps(data)}\n\n" if streams else json.dumps(data)).encode())

    def log_message(self, *_):
        pass


class Devices(unittest.TestCase):
    sign_in = generated.Journeys.sign_in

    @classmethod
    def setUpClass(cls):
        cls.servers = servers.shared()
        cls.folder = BUILD / "examples"
        cls.folder.mkdir(parents=True, exist_ok=True)

    def follow_one_list(self, *client):
        """Two devices of one person change the list in turn, and each ends with the same."""
        self.servers.remove_tasks(PERSON)
        token, files = self.sign_in(), [self.folder / name for name in ("phone.json", "tablet.json")]
        for file in files:
            file.unlink(missing_ok=True)

        def device(number, *words):
            """What a command of a device prints, one line each: refusals, then the list."""
            return run([*client, self.servers.page, files[number], *words], self.folder, ACCESS_TOKEN=token).splitlines()

        def texts(line):
            return [(task["task"], task["completed"]) for task in json.loads(line)]

        device(0, "add", "Buy milk")
        self.assertEqual(texts(device(1, "pull")[-1]), [("Buy milk", False)])
        id = json.loads(device(1, "add", "Call Ann")[-1])[0]["Id"]
        device(1, "rename", str(id), "Buy oat milk")
        # The phone has not seen the new text.
        refused, *_, after = device(0, "rename", str(id), "Buy bread")
        self.assertIn("refused with 412", refused)
        self.assertEqual(texts(after), [("Buy oat milk", False), ("Call Ann", False)])

        following = subprocess.Popen([*client, self.servers.page, files[0], "follow"], stdout=subprocess.PIPE, text=True,
                                     env={"ACCESS_TOKEN": token, "PATH": "/usr/bin:/bin"})
        self.addCleanup(following.kill)
        # The list as it is, and again with the first event, which has no change.
        self.assertEqual([texts(following.stdout.readline()) for _ in range(2)], [texts(after)] * 2)
        device(1, "done", str(id))
        self.assertEqual(texts(following.stdout.readline()), [("Buy oat milk", True), ("Call Ann", False)])
        device(1, "remove", str(id))
        self.assertEqual(texts(following.stdout.readline()), [("Call Ann", False)])
        following.kill()
        following.wait(PATIENCE)
        following.stdout.close()
        # A removal of what is gone is no news, and what was followed is kept.
        self.assertEqual([texts(line) for line in device(0, "remove", str(id))], [[("Call Ann", False)]])

    def end_streams(self, *client):
        """A device asks again after a restart of the server, and says so when its token has expired."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ending)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        server.reasons = ["server.stopping", "changes.forgotten", "token.expired"]
        threading.Thread(target=server.serve_forever).start()
        file = self.folder / "ended.json"
        file.unlink(missing_ok=True)
        ended = subprocess.run([*client, f"http://127.0.0.1:{server.server_port}", file, "follow"], capture_output=True, text=True,
                               env={"ACCESS_TOKEN": "x", "PATH": "/usr/bin:/bin"}, timeout=PATIENCE, check=False)
        self.assertEqual([line.split(": ")[1] for line in ended.stderr.splitlines()], ["server.stopping", "changes.forgotten", "token.expired"])
        self.assertEqual(ended.returncode, 1)

    def test_javascript(self):
        self.follow_one_list("node", EXAMPLES / "sync.mjs")
        self.end_streams("node", EXAMPLES / "sync.mjs")

    def test_swift(self):
        run(["swiftc", "-swift-version", "6", EXAMPLES / "Sync.swift", EXAMPLES / "main.swift", "-o", self.folder / "sync"], self.folder)
        self.follow_one_list(self.folder / "sync")
        self.end_streams(self.folder / "sync")


for name in (EXAMPLES / "sync.mjs", EXAMPLES / "Sync.swift"):
    if len(name.read_text().splitlines()) > 150:
        raise AssertionError(f"{name.name} has more than 150 lines, which a client developer should not have to read")
