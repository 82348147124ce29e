"""A simulated person: changes tasks, and knows what must be in the list."""
import http.client
import json
import random
import threading
import time
import urllib.parse
import uuid

from programs import Failed

NO_ANSWER = "no answer"


class Model:
    """What a person's list must be: tasks by id, each with its text, whether it is done, and its tag."""

    def __init__(self, owner):
        self.owner, self.tasks = owner, {}

    def difference(self, listed):
        """What is wrong with a list of (id, text, completed), as a sentence; nothing if it is right."""
        expected = [(number, text, done) for number, (text, done, _) in sorted(self.tasks.items())]
        if listed == expected:
            return None
        missing, extra = [each for each in expected if each not in listed], [each for each in listed if each not in expected]
        return f"{len(expected)} tasks expected, {len(listed)} listed; missing {missing[:3]}, not expected {extra[:3]}"


class Person:
    """One client after another on one thread: reads, adds, changes and deletes, and repeats what was not answered."""

    LONGEST_STRUGGLE = 180  # seconds until a request must have been settled

    def __init__(self, world, number):
        self.world, self.number, self.random = world, number, random.Random(world.seed * 1000 + number)
        self.source = f"127.0.0.{10 + number}"
        self.connection, self.used, self.past = None, 0, []
        self.renew()

    def renew(self):
        """Becomes another person; what was before must stay as it is."""
        self.model = Model(str(uuid.UUID(int=self.random.getrandbits(128), version=4)))
        self.past.append(self.model)
        self.token, self.additions = None, 0

    # -- one request

    def send(self, method, path, body=None, **headers):
        """One attempt: status, fields, body; NO_ANSWER where the connection ended. Reports what must not happen now."""
        world, began = self.world, time.monotonic()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            if self.connection is None or began - self.used > 10:
                self.disconnect()  # the server ends idle connections, perhaps at this moment
                self.connection = http.client.HTTPConnection(
                    "127.0.0.1", world.server.port, timeout=30, source_address=(self.source, 0))
            self.used = began
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
            status, fields, text = answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.disconnect()
            world.judge(NO_ANSWER, began, f"{method} {path.partition('?')[0]}, {type(error).__name__}", self)
            return NO_ANSWER, {}, b""
        if fields.get("Connection", "").lower() == "close":
            self.disconnect()
        problem = text.decode(errors="replace").rpartition(" (")[2].rstrip(")\n") if status >= 400 else ""
        world.judge(status, began, f"{method} {path.partition('?')[0]} {problem}".strip(), self)
        return status, fields, text

    def disconnect(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def settle(self, method, path, body=None, between=None, **headers):
        """Repeats until there is an answer that is about the request itself. Only for what may be repeated."""
        end = time.monotonic() + self.LONGEST_STRUGGLE
        attempts = 0
        while True:
            self.freshen()
            status, fields, text = self.send(method, path, body, **headers)
            attempts += 1
            if status == 401:
                self.token = None
            elif status not in (NO_ANSWER, 500, 503, 507):
                return status, fields, text, attempts
            if time.monotonic() > end:
                raise Failed(f"{method} {path} was not settled within {self.LONGEST_STRUGGLE} s; the last answer was {status}")
            if attempts > 1:
                self.world.stop.wait(min(1, 0.05 * attempts))
            if between is not None and status == 507:
                between()

    def freshen(self):
        end = time.monotonic() + self.LONGEST_STRUGGLE
        while self.token is None:
            try:
                self.token_at, self.token = time.monotonic(), self.world.mock.token(self.model.owner)
            except (OSError, http.client.HTTPException, Failed) as error:
                if time.monotonic() > end:
                    raise Failed(f"mock-authority gave no token: {error}") from None
                time.sleep(0.2)

    # -- what people do

    def expect(self, condition, what):
        if not condition:
            self.world.violation(f"person {self.number} ({self.model.owner}): {what}")

    def add(self):
        text = f"soak {self.model.owner[:8]} {self.additions} " + "x" * self.random.choice((0, 10, 100, 1000))
        status, fields, body, _ = self.settle(
            "POST", "/api/tasks", json.dumps({"task": text}), between=self.read_one, Idempotency_Key=str(uuid.uuid4()))
        self.additions += 1
        self.expect(status == 201, f"POST was answered {status} {body[:120]}")
        if status == 201:
            task = json.loads(body)
            self.expect(task["task"] == text and task["Id"] not in self.model.tasks, f"POST gave another task: {body[:200]}")
            self.model.tasks[task["Id"]] = (text, False, fields["ETag"])

    def change(self):
        number = self.random.choice(list(self.model.tasks))
        text, done, tag = self.model.tasks[number]
        wanted = (text, not done) if self.random.random() < 0.7 else (text[:60] + " changed", done)
        body = json.dumps({"task": wanted[0], "completed": wanted[1]})
        status, fields, answer, attempts = self.settle("PATCH", f"/api/tasks/{number}", body, between=self.read_one, If_Match=tag)
        if status == 412 and attempts > 1:  # an attempt without an answer was done after all
            status, fields, answer, _ = self.settle("GET", f"/api/tasks/{number}")
        self.expect(status == 200, f"PATCH of task {number} was answered {status} {answer[:120]}")
        if status == 200:
            task = json.loads(answer)
            self.expect((task["task"], task["completed"]) == wanted, f"PATCH of task {number} gave {answer[:200]}")
            self.model.tasks[number] = (*wanted, fields["ETag"])

    def remove(self):
        number = self.random.choice(list(self.model.tasks))
        status, _, answer, _ = self.settle("DELETE", f"/api/tasks/{number}", between=self.read_one)
        self.expect(status == 204, f"DELETE of task {number} was answered {status} {answer[:120]}")
        del self.model.tasks[number]
        status, _, answer, _ = self.settle("GET", f"/api/tasks/{number}")
        self.expect(status == 404, f"a deleted task was answered {status}")

    def listed(self, path="/api/tasks"):
        """The whole list, over as many pages as the server makes of it."""
        found = []
        while path:
            status, fields, body, _ = self.settle("GET", path)
            if status != 200:
                raise Failed(f"person {self.number}: GET {path} was answered {status} {body[:120]}")
            found += [(task["Id"], task["task"], task["completed"]) for task in json.loads(body)]
            path = next_page(fields)
        return found

    def read(self):
        path = self.random.choice(("/api/tasks", "/api/tasks", "/api/tasks?limit=7"))
        if difference := self.model.difference(self.listed(path)):
            self.world.violation(f"person {self.number} ({self.model.owner}): GET {path}: {difference}")

    def read_again(self):
        status, fields, _, _ = self.settle("GET", "/api/tasks")
        status, _, _, _ = self.settle("GET", "/api/tasks", If_None_Match=fields.get("ETag", ""))
        self.expect(status == 304, f"an unchanged list was answered {status}")

    def read_one(self):
        """Reads go on where writes find no room."""
        if self.model.tasks:
            number = self.random.choice(list(self.model.tasks))
            status, _, body = self.send("GET", f"/api/tasks/{number}")
            self.expect(status in (200, 401, 503, NO_ANSWER), f"GET of task {number} was answered {status} {body[:120]}")

    def act(self):
        size = len(self.model.tasks)
        if size == 0 or (size < 40 and self.random.random() < 0.3):
            self.add()
        else:
            self.random.choice((self.read, self.read, self.read_again, self.change, self.change, self.remove))()
        if self.additions >= 100:
            self.renew()

    def run(self):
        while not self.world.stop.is_set():
            try:
                self.act()
            except Failed as failure:
                self.world.violation(str(failure))
                self.renew()
            except Exception as error:  # what a person does not understand is a finding, not the end of the load
                self.world.violation(f"person {self.number}: {type(error).__name__}: {error}")
                self.disconnect()
                self.renew()
            self.world.stop.wait(self.world.pause)
        self.disconnect()

    def start(self):
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()


def next_page(fields):
    """Where the Link field leads, or nothing."""
    for link in (fields.get("Link") or "").split(","):
        address, _, parameters = link.partition(";")
        if 'rel="next"' in parameters:
            target = urllib.parse.urlsplit(address.strip().strip("<>"))
            return target.path + (f"?{target.query}" if target.query else "")
    return None
