"""The rows of the benchmark: what is run side by side, and which figures follow from one round of it."""
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import sqlite3
import time
import urllib.request

from load import Load, Requests, Wrk, measure
from processes import ROOT, ask, busy
from programs import add, owner

GET, POST = Requests(), Requests("POST")
IDLE, MILLION, EVERYBODY = 5000, 10**6, 30_000


class Measurement:
    """Runs rows, and collects their figures (a list with a value of each round), every load, and what went wrong."""

    def __init__(self, programs, options, database=None):
        self.programs, self.options, self.database = programs, options, database
        self.figures, self.loads, self.wrong = {}, [], []
        self.used_by_others = {}  # of each row, the CPUs during each of its loads

    def run(self, row):
        self.row = row.__name__
        for name, value in row(self).items():
            self.note(name, value)

    def note(self, name, value):
        self.figures.setdefault(name, []).append(value)

    def others(self, row, cpus):
        self.used_by_others.setdefault(row, []).append(cpus)

    def load(self, program, requests, helpers=(), beside=None):
        """Measures one load; `helpers` work for it, `beside` is what else the server does then, in words."""
        load, wrong = measure(self.row, self.programs.folder, program, requests, self.options.seconds, helpers)
        load.requests += f" beside {beside}" if beside else ""
        self.loads.append(load)
        self.others(self.row, load.others)
        self.wrong += wrong
        if requests.method == "POST" and requests.of == "person":
            self.check_kept(program, load.count)
        print(f"  {load.program:20} {load.requests:26} CPU {load.cpu_us:7.2f} us {load.rate:8.0f}/s  p50 {load.p50_us:7.0f} us"
              f"  p99 {load.p99_us:7.0f} us  others {load.others:.2f} CPUs", flush=True)
        return load

    def check_kept(self, program, count):
        """Ids are counted from 1: the next one tells how many tasks are there at least."""
        _, answer = ask(program.port, "/api/tasks", self.programs.token, "POST", '{"task":"the last"}')
        task = {name.lower(): value for name, value in json.loads(answer).items()}
        if task["id"] <= count:
            self.wrong.append(f"{program.name}: {count} POSTs were answered 2xx, but the next id is {task['id']}")

    def alone(self, program, *requests):
        """The loads of a program of its own, one after the other."""
        with program:
            loads = [self.load(program, each) for each in requests]
        return loads[0] if len(loads) == 1 else loads

    def each_build(self, steps):
        """What `steps(checkout)` gives, a list of loads, for this build; for the earlier one it is done first, and compared."""
        earlier = steps(self.options.before) if self.options.before else None
        now = steps(ROOT)
        for before, after in zip(earlier or [], now):
            self.note(f"{self.row} cpu before {after.requests}", after.cpu_us / before.cpu_us)
            self.note(f"{self.row} rate before {after.requests}", after.rate / before.rate)
        return now

    def ours(self, database, *requests, **settings):
        """The loads of task-server; of each build if there are two."""
        def steps(build):
            with self.programs.task_server(database, build, **settings) as program:
                return [self.load(program, each) for each in requests]

        loads = self.each_build(steps)
        return loads[0] if len(loads) == 1 else loads


def get(m):
    """GET of ten tasks, one person."""
    bare = m.alone(m.programs.bare(), GET)
    ours = m.ours("seed", GET)
    m.alone(m.programs.nginx(), GET)
    m.alone(m.programs.go("seed"), GET)
    return {"get": ours.cpu_us / bare.cpu_us}


def people(m):
    """GET of ten tasks, a thousand people in turn."""
    requests = Requests(of="people")
    bare = m.alone(m.programs.bare(), requests)
    ours = m.ours("seed", requests)
    m.alone(m.programs.go("seed"), requests)
    return {"people": ours.cpu_us / bare.cpu_us}


def new(m):
    """GET where every token is new: no server remembers one. Then an expired one, of the same server."""
    bare = m.alone(m.programs.bare(verifies=True), GET)
    good, expired = m.ours("seed", GET, Requests(of="expired"), TASKS_TOKEN_CACHE="0")
    m.alone(m.programs.go("seed", tokens=0), GET)
    m.alone(m.programs.fastapi(), GET)
    return {"new": good.cpu_us / bare.cpu_us, "expired": expired.cpu_us / good.cpu_us}


def refused(m):
    """A request without a token; the bare program sends the same body."""
    requests = Requests(of="anonymous")
    bare = m.alone(m.programs.bare_refusing(), requests)
    ours = m.ours("seed", requests)
    return {"refused": ours.cpu_us / bare.cpu_us}


def post(m):
    """Durable POST on SQLite, 64 connections, each server on a new database of the same disk."""
    bare = m.alone(m.programs.bare(), GET)
    ours = m.ours("new", POST)
    go = m.alone(m.programs.go("new"), POST)
    return {"post_rate": ours.rate / go.rate, "post_cpu": ours.cpu_us / bare.cpu_us}


def post_one(m):
    """Durable POST on SQLite, one connection, beside commits of the row with SQLite alone."""
    times = commits(m.programs.database(), m.options.seconds)
    commit, tail, rate = times[len(times) // 2], times[len(times) * 99 // 100], len(times) / m.options.seconds
    m.loads.append(Load("post_one", "bare SQLite", "commit of a row", len(times), rate, None, commit, tail, None))
    print(f"  {'bare SQLite':20} {'commit of a row':26} {'':14} {rate:8.0f}/s  p50 {commit:7.0f} us  p99 {tail:7.0f} us")
    ours = m.ours("new", Requests("POST", connections=1))
    return {"post_one": ours.p50_us / commit}


def commits(path, seconds):
    """The microseconds of durable commits of a task's row, one after the other, in ascending order."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        # The table of tasks and the durability that task-server has.
        database.executescript("""
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            CREATE TABLE tasks(owner TEXT NOT NULL, id INTEGER NOT NULL, text TEXT NOT NULL, completed INTEGER NOT NULL, created INTEGER NOT NULL,
                modified INTEGER NOT NULL, revision INTEGER NOT NULL, due TEXT, notes TEXT, position REAL, PRIMARY KEY (owner, id)) WITHOUT ROWID""")
        times = [time.perf_counter()]
        while times[-1] - times[0] < seconds:
            database.execute("INSERT INTO tasks(owner, id, text, completed, created, modified, revision) VALUES (?, ?, ?, 0, ?, ?, 1)",
                             (owner(1), len(times), "Buy milk and bread, number 1", 1795389833880, 1795389833880))
            times.append(time.perf_counter())
    return sorted((later - earlier) * 1e6 for earlier, later in zip(times, times[1:]))


def mix(m):
    """Nine GETs to a durable POST on SQLite, a thousand people in turn."""
    requests = Requests("MIX", "people")
    ours = m.ours("seed", requests)
    go = m.alone(m.programs.go("seed"), requests)
    return {"mix_cpu": ours.cpu_us / go.cpu_us, "mix_rate": ours.rate / go.rate}


def idle(m):
    """5,000 connections that had an answer and now do nothing: their memory, and what a GET costs beside them."""
    return beside(m, "idle", lambda port, place: answered(port, m.programs.token), "TASKS_CONNECTIONS")


def streams(m):
    """5,000 streams of changes of a thousand people that have nothing to say: their memory, and what a GET costs beside them."""
    def following(port, place):
        return answered(port, m.programs.tokens["people"][place % 1000], "/api/tasks/changes", "text/event-stream", b"id: ")

    return beside(m, "streams", following, "TASKS_STREAMS")


def beside(m, what, connect, limit):
    """The memory of 5,000 connections, and what a GET costs beside them."""
    sizes = []

    def steps(build):
        with m.programs.task_server("seed", build, **{limit: str(IDLE + 1000)}) as program:
            without = m.load(program, GET)
            before = program.resident_mb()
            connections = [connect(program.port, place) for place in range(IDLE)]
            sizes.append((program.resident_mb() - before) * 2**20 / IDLE)
            loaded = m.load(program, GET, beside=f"5,000 {what}")
            for each in itertools.chain(*connections):
                each.close()
        return [without, loaded]

    without, loaded = m.each_build(steps)
    if m.options.before:
        m.note(f"{what} memory before", sizes[-1] / sizes[0])
    return {what: sizes[-1], f"{what}_cpu": loaded.cpu_us / without.cpu_us}


def answered(port, token, path="/api/tasks", accept="application/json", end=b""):
    """A connection whose answer was read to the line that begins like this, or to its end."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}", "Accept": accept})
    answer = connection.getresponse()
    while line := answer.readline():
        if end and line.startswith(end):
            break
    if answer.status != 200 or not line and end:
        raise SystemExit(f"bench: a connection that should become idle was answered {answer.status}, or closed")
    return connection, answer


def p99(m):
    """The tail of GET beside 64 connections that add as fast as the store takes it, against the same number that read."""
    tails = []
    with m.programs.task_server("seed") as program:
        for method in ("GET", "POST"):
            others = Wrk(m.programs.folder, program.port, Requests(method, "crowd"), m.options.seconds + 2)
            load = m.load(program, GET, [others], beside="64 readers" if method == "GET" else "64 writers")
            m.wrong += others.end()[1]
            load.cpu_us = load.helper_cpu_us = None  # of all its requests, of which only some are counted
            tails.append(load.p99_us)
    return {"p99": tails[1] / tails[0]}


def start(m):
    """From the start of the process to the first list, with keys fetched from mock-authority; and the memory then."""
    def figures(build):
        others, began = busy() - own_cpu(), time.monotonic()
        with m.programs.task_server("seed", build) as program:
            others = busy() - own_cpu() - others - program.cpu()
            m.others("start", max(0, others / (time.monotonic() - began)))
            print(f"  {program.name:20} {program.start_ms:5.1f} ms, {program.resident_mb():5.1f} MB", flush=True)
            return program.start_ms, program.resident_mb()

    before = figures(m.options.before) if m.options.before else ()
    now = figures(ROOT)
    for name, earlier, later in zip(("time", "memory"), before, now):
        m.note(f"start {name} before", later / earlier)
    return {"start": now[0], "resident": now[1]}


def own_cpu():
    return sum(os.times()[:2])


def pg(m, of="person"):
    """GET and durable POST of one person on PostgreSQL; the Go server with ids of both kinds."""
    requests = [Requests(method, of) for method in ("GET", "POST")]
    many = of == "crowd"

    def loads(server):
        with server:
            for token in m.programs.tokens[of]:
                for number in range(10):
                    add(server.port, token, number)
            return [m.load(server, each, [m.database]) for each in requests]

    go = {ids: loads(m.programs.go(m.database.new_database(), ids=ids, people=many)) for ids in ("sequence", "owner")}
    read, write = m.each_build(lambda build: loads(m.programs.task_server(m.database.new_database(), build)))
    fastest = max(reads.rate for reads, _ in go.values())
    name = "pg_crowd" if many else "pg"
    return {f"{name}_get": read.rate / fastest, f"{name}_post": write.rate / go["owner"][1].rate,
            f"{name}_sequence": write.rate / go["sequence"][1].rate}


def pg_crowd(m):
    """The same on PostgreSQL, 64 people in turn."""
    return pg(m, "crowd")


def large(m):
    """Ten million tasks of a million people in SQLite against those of a thousand, also while a backup and an export run."""
    m.programs.make("large", [owner(number) for number in range(MILLION)])
    kinds = {"large_get": Requests(of="people"), "large_page": Requests(of="people", query="?limit=10"),
             "large_post": Requests("POST", "people"), "large_post_one": POST}
    for _ in range(2):
        loads = []
        for database in ("seed", "large"):
            with m.programs.task_server(database) as program:
                loads.append([m.load(program, each) for each in kinds.values()])
        for name, small, of_large in zip(kinds, *loads):
            m.note(name, of_large.cpu_us / small.cpu_us)
    for command in ("backup", "export"):
        with m.programs.task_server("large") as program, concurrent.futures.ThreadPoolExecutor(1) as pool:
            done = pool.submit(m.programs.command, command, program.database, m.programs.path(command))
            m.note(f"large_{command}", m.load(program, kinds["large_post"], beside=command).p99_us / 1000)
            done.result()
    return {}


def paced(m):
    """30,000 people who each ask every 30 s whether the list has changed, and change ten tasks a day.

    There are more of them than verified tokens are remembered, so that every request verifies its token, as with any larger number of
    people. The load is paced, because a server under full load wakes up less often for each request.
    """
    m.programs.make("everybody", [owner(number) for number in range(EVERYBODY)])
    with m.programs.task_server("everybody") as program:
        tokens = m.programs.tokens_of(EVERYBODY)
        m.programs.write_tokens("all", [f"{token} {entity_tag(program.port, token)}" for token in tokens])
        load = m.load(program, Requests("PACED", "all", connections=200))
    return {"paced": load.cpu_us, "paced_people": 30 * 0.5e6 / load.cpu_us}


def entity_tag(port, token):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/tasks", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["ETag"]


# In this order; the part of the rounds that a row takes.
ROWS = {start: 1, get: 1, people: 1, new: 1, refused: 1, post: 1, post_one: 1, mix: 0.6, idle: 0.6, streams: 0.6, p99: 1, pg: 0.6, pg_crowd: 0.6,
        large: 0.2, paced: 0.6}
# They need minutes and gigabytes, and run only if they are named.
NAMED = [large, paced]
