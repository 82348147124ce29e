"""The programs that are compared, the tokens that they take, and the databases that they begin with."""
import base64
import json
import os
import random
import shutil
import sqlite3
import subprocess
import uuid

from processes import POLICY, ROOT, TENANT, Program, ask, build_go, free_port, mock_authority, settings, token

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(ROOT, ".build", "bench")
PEOPLE, CROWD, TASKS = 1000, 64, 10
# Sessions with PostgreSQL with which the Go server adds fastest, by where its ids come from: for one person, for many. (Of reads, which
# hardly depend on it, the faster of the two counts.)
SESSIONS = {"sequence": (32, 32), "owner": (4, 16)}
GO_SCHEMA = """
    PRAGMA journal_mode = WAL;
    CREATE TABLE tasks(id INTEGER PRIMARY KEY, task TEXT NOT NULL, owner TEXT NOT NULL, completed INTEGER NOT NULL DEFAULT 0,
                       date TEXT NOT NULL);
    CREATE INDEX tasks_owner ON tasks(owner, id);
"""


def build():
    os.makedirs(WORK, exist_ok=True)
    subprocess.run([f"{ROOT}/scripts/install", "build", "bench"], check=True)
    subprocess.run([f"{ROOT}/scripts/build", "release"], check=True)
    build_peers()


def build_peers():
    os.makedirs(WORK, exist_ok=True)
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-o", f"{WORK}/bare", f"{HERE}/bare.c", "-lmicrohttpd", "-lcrypto"]
    subprocess.run(command, check=True)
    build_go(WORK)


class Programs:
    """Starts each program; `folder` is on the disk that is measured. `with` runs the authority that signs the tokens."""

    def __init__(self, folder, settings=(), before=None):
        """`before` is the checkout of an earlier build that is measured, too: each of the two has a database of its own kind of tables."""
        self.folder, self.settings, self.oldest = folder, dict(settings), before or ROOT

    def path(self, name):
        return os.path.join(self.folder, name)

    def __enter__(self):
        self.authority = mock_authority(self.folder).__enter__()
        try:
            self.take_tokens()
            self.seed()
        except BaseException:
            self.authority.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.authority.__exit__()

    # -- tokens

    def take_tokens(self):
        """Tokens of each kind of requester; and the keys as a file, which the peers read."""
        people = self.tokens_of(PEOPLE)
        self.tokens = {"person": [token(self.authority)], "people": people, "crowd": people[:CROWD], "anonymous": [""],
                       "expired": [token(self.authority, "&bad=expired")]}
        for name, tokens in self.tokens.items():
            self.write_tokens(name, tokens)
        self.token = self.tokens["person"][0]
        keys = ask(self.authority.port, f"{TENANT}/{POLICY}/discovery/v2.0/keys")[1]
        with open(self.path("jwks.json"), "wb") as f:
            f.write(keys)
        signed_by = json.loads(decoded(self.token, 0))["kid"]
        self.modulus = next(decoded(key["n"], 0).hex() for key in json.loads(keys)["keys"] if key["kid"] == signed_by)

    def tokens_of(self, count):
        return [token(self.authority, f"&claim=oid={owner(number)}") for number in range(count)]

    def write_tokens(self, name, tokens):
        """A file for wrk, one token a line."""
        with open(self.path(f"tokens-{name}"), "w") as f:
            f.writelines(f"{each}\n" for each in tokens)

    # -- databases

    def seed(self):
        """Databases with ten tasks of each person, for task-server and for its peers; what task-server answers; a refusal."""
        with self.task_server("new", self.oldest) as server:
            for number in range(TASKS):
                add(server.port, self.token, number)
            answers = {"list.json": (200, ask(server.port, "/api/tasks", self.token)),
                       "refusal.txt": (401, ask(server.port, "/api/tasks"))}
            self.answers = {}
            for name, (expected, (status, body)) in answers.items():
                if status != expected:
                    raise SystemExit(f"bench: task-server answered {status} in place of {expected}")
                self.answers[name] = len(body)
                with open(self.path(name), "wb") as f:
                    f.write(body)
            self.command("export", server.database, self.path("export.jsonl"), self.oldest)
        with open(self.path("export.jsonl")) as f:
            self.tasks = [json.loads(line) for line in f][:-1]
        owners = [self.tasks[0]["owner"], *map(owner, range(PEOPLE))]
        for build in {self.oldest, ROOT}:
            self.make("seed", owners, build)
        with sqlite3.connect(self.path("seed-go.db")) as database:
            database.executescript(GO_SCHEMA)
            database.executemany("INSERT INTO tasks(task, owner, date) VALUES (?,?,?)",
                                 [(task["text"], owner, task["created"]) for owner in sorted(owners) for task in self.tasks])
        database.close()

    def make(self, name, owners, build=ROOT):
        """A database in which each of the owners has the ten tasks. Each build makes its own: an upgrade would count as its start."""
        lines, file = "".join(json.dumps({**task, "owner": "OWNER"}) + "\n" for task in self.tasks), self.path("import.jsonl")
        with open(file, "w") as f:
            f.writelines(lines.replace("OWNER", owner) for owner in sorted(owners))
            f.write(json.dumps({"end": True, "tasks": len(owners) * len(self.tasks)}) + "\n")
        self.command("import", f"sqlite:{self.path(made_by(build, name))}", file, build)
        os.unlink(file)

    def command(self, command, database, file, build=ROOT):
        done = subprocess.run([f"{build}/.build/release/task-server", command, "--database", database, file], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"bench: task-server {command}: {done.stderr}")

    def database(self, original=None):
        """A new file, or a copy of one that was made. Names are never used twice: `-wal` of another would be read."""
        path = self.path(f"{random.randrange(10**12)}.db")
        if original:
            shutil.copyfile(self.path(original), path)
        return path

    # -- programs

    def answering(self, name, command, environment, port, token=None, expected=200):
        """A program that is ready when it answers a list. The files of its database go with it."""
        files = [value.removeprefix("sqlite:") for key, value in environment.items() if key in ("DB", "TASKS_DATABASE")]
        program = Served(name, command, environment, lambda: ask(port, "/api/tasks", token)[0] == expected,
                         self.path(f"{name}.log".replace(" ", "-")))
        program.port, program.files, program.database = port, files, environment.get("TASKS_DATABASE")
        return program

    def task_server(self, database, build=ROOT, **more):
        """`database` is "new", the name of one that was made, or the URL of a PostgreSQL database; `build` is a checkout with a release."""
        port = free_port()
        if "://" not in database:
            database = f"sqlite:{self.database(made_by(build, database) if database != 'new' else None)}"
        environment = {**settings(port, self.authority.port, database), "TASKS_PUBLIC": f"{build}/Public", "TASKS_MAX_TASKS": "10000000",
                       **self.settings, **more}
        name = "task-server" if build == ROOT else "task-server before"
        return self.answering(name, [f"{build}/.build/release/task-server"], environment, port, self.token)

    def bare(self, verifies=False):
        """libmicrohttpd that sends the bytes of task-server's list; it also verifies the signature of the token if it is told to."""
        port = free_port()
        options = ["-v", self.modulus] if verifies else []
        return self.answering("bare C, RSA" if verifies else "bare C", [f"{WORK}/bare", str(port), self.path("list.json"), *options], {},
                              port, self.token)

    def bare_refusing(self):
        """libmicrohttpd that sends the body of task-server's refusal of a request without a token."""
        port = free_port()
        return self.answering("bare C, 401", [f"{WORK}/bare", str(port), self.path("refusal.txt"), "-s", "401"], {}, port, expected=401)

    def nginx(self):
        port = free_port()
        with open(f"{HERE}/nginx.conf") as template, open(self.path("nginx.conf"), "w") as f:
            f.write(template.read().replace("@FOLDER@", self.folder).replace("@PORT@", str(port)))
        return self.answering("nginx", ["/usr/sbin/nginx", "-c", self.path("nginx.conf")], {}, port)

    def go(self, database, tokens=16384, ids="sequence", people=False):
        """`tokens` is how many verified ones it remembers; `ids`, on PostgreSQL, where they come from."""
        environment = {"TOKEN_CACHE": str(tokens)}
        if "://" in database:
            environment.update(READERS=str(SESSIONS[ids][people]), IDS=ids, DB=database)
        name = "Go" + ("" if tokens else ", no token cache") + (", ids by owner" if ids == "owner" else "")
        return self.peer(name, [f"{WORK}/go-server"], database, environment)

    def fastapi(self):
        command = ["/usr/bin/uvicorn", "app:app", "--app-dir", f"{HERE}/fastapi", "--host", "127.0.0.1", "--workers", "2",
                   "--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning", "--port"]
        return self.peer("FastAPI", command, "seed", {"PYTHONDONTWRITEBYTECODE": "1"})

    def peer(self, name, command, database, environment):
        """A server that takes the environment that README.md lists."""
        port = free_port()
        claims = json.loads(decoded(self.token, 1))
        given = {"ISSUER": claims["iss"], "AUDIENCE": claims["aud"], "JWKS": self.path("jwks.json"), "PORT": str(port)}
        if "DB" not in environment:
            given["DB"] = self.database("seed-go.db" if database == "seed" else None)
        return self.answering(name, [*command, str(port)] if name == "FastAPI" else command, {**given, **environment}, port, self.token)


class Served(Program):
    """A program with a port, whose database is removed with it."""

    def __exit__(self, *_):
        super().__exit__()
        for file in self.files:
            for suffix in ("", "-wal", "-shm", ".lock", ".keys"):
                if os.path.exists(file + suffix):
                    os.unlink(file + suffix)


def made_by(build, name):
    return f"{name}.db" if build == ROOT else f"{name}-before.db"


def owner(number):
    """The people are spread over a large table."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))


def add(port, token, number):
    status, body = ask(port, "/api/tasks", token, "POST", json.dumps({"task": f"Buy milk and bread, number {number}"}))
    if status != 201:
        raise SystemExit(f"bench: POST was answered {status}: {body.decode(errors='replace')}")


def decoded(text, place):
    """The bytes of one of the parts, in base64url, of a token."""
    part = text.split(".")[place]
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
