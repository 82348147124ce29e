"""Each adversity: what is done to the server, what people may notice, and what must hold."""
import pathlib
import random
import select
import signal
import socket
import time
import uuid

from person import NO_ANSWER
from programs import Failed, ask, wait_until

STRANGER = "127.0.1.1"  # strangers have an address of their own


class Adversity:
    def __init__(self, run, tolerated, settles, only):
        self.name, self.action, self.tolerated, self.settles, self.only = run.__name__.replace("_", " "), run, tolerated, settles, only

    def run(self, world):
        self.action(world)


ALL = []


def adversity(*tolerated, settles=20, only=None):
    """Declares which answers people may get, after how many seconds the descriptors are closed, and for which store it is."""
    def note(run):
        ALL.append(Adversity(run, tolerated, settles, only))
        return run
    return note


def connect(world, source=STRANGER):
    world.connected()
    return socket.create_connection(("127.0.0.1", world.server.port), timeout=10, source_address=(source, 0))


def head(token, method="GET", path="/api/tasks", fields=""):
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n{fields}\r\n".encode()


def expect_served(world, seconds, what):
    """A good client with a new connection is answered in this time."""
    began = time.monotonic()
    token = world.probe_token()
    status = ask(world.server.port, "GET", "/api/tasks", {"Authorization": f"Bearer {token}"}, timeout=30, source="127.0.0.9")[0]
    took = time.monotonic() - began
    if status != 200 or took > seconds:
        raise Failed(f"{what}: a good client was answered {status} after {took:.1f} s")
    return took


# -- of the process

@adversity(NO_ANSWER, 503)
def killed_and_started(world):
    world.server.kill()
    world.server.start()


@adversity(NO_ANSWER, 503)
def told_to_stop_and_started(world):
    """Neither connections without a request nor half heads are requests under way."""
    strangers = [connect(world) for _ in range(50)]
    for stranger in strangers[:25]:
        stranger.sendall(b"GET /api/tasks HTTP/1.1\r\nHost: h")
    time.sleep(0.2)
    took, code = world.server.terminate(15)
    for stranger in strangers:
        stranger.close()
    world.server.start()
    world.note("seconds from SIGTERM to the end", took)
    if code != 0 or took > 3:
        raise Failed(f"it took {took:.1f} s from SIGTERM to the end with only half requests, exit code {code}")


@adversity()
def log_reader_that_stops(world):
    world.server.log.reading.clear()
    try:
        for _ in range(5):
            expect_served(world, 5, "while the log is not read")
            time.sleep(0.8)
    finally:
        world.server.log.reading.set()


# -- of the authority

def expect_new_token(world, seconds=60):
    """A token that the authority signs now is taken, at the latest after this time."""
    def taken():
        token = world.mock.token(str(uuid.UUID(int=random.getrandbits(128), version=4)))
        world.connected()
        return ask(world.server.port, "GET", "/api/me", {"Authorization": f"Bearer {token}"})[0] == 200
    wait_until("a new token is taken", seconds, taken, 0.3)


@adversity(401, 503)
def keys_rotated(world):
    world.mock.control("keys", {"do": "rotate"})
    world.rotated = time.monotonic()
    expect_new_token(world)
    world.rotated = time.monotonic()
    world.forget_probe()


@adversity(401, 503)
def authority_with_faults(world):
    """Errors, delays, closed connections and nonsense in place of keys and metadata, while keys change."""
    kinds = ({"status": 503, "retry_after": 1}, {"status": 500}, {"delay_ms": 3000}, {"cut": True}, {"body": "{\"keys\":["}, {"body": "<p>"})
    for place in ("keys", "metadata"):
        for kind in random.sample(kinds, 3):
            world.mock.control("faults", {"at": place, "times": 1, **kind})
    world.mock.control("keys", {"do": "rotate"})
    for _ in range(4):
        token = world.mock.token(str(uuid.uuid4()))
        world.connected()
        ask(world.server.port, "GET", "/api/me", {"Authorization": f"Bearer {token}"})
        world.server.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
    world.mock.control("reset", {})
    world.server.process.send_signal(signal.SIGHUP)
    expect_new_token(world)
    world.rotated = time.monotonic()
    world.forget_probe()


@adversity()
def clock_of_the_authority_jumps(world):
    """Tokens of another time are refused; the others are still taken."""
    owner = str(uuid.uuid4())
    try:
        for skew in (-7200, 7200):
            world.mock.control("clock?run=jump", {"skew_s": skew})
            token = world.mock.token(owner, run="jump")
            world.connected()
            status = ask(world.server.port, "GET", "/api/me", {"Authorization": f"Bearer {token}"})[0]
            if status != 401:
                raise Failed(f"a token from {skew} s away was answered {status}")
    finally:
        world.mock.control("clock?run=jump", {"skew_s": 0})


@adversity(NO_ANSWER, 503)
def authority_away(world):
    """Kept tokens are taken, and a restart needs no authority."""
    world.probe_token()
    world.mock.kill()
    expect_served(world, 5, "while the authority is away")
    world.server.kill()
    world.server.start()
    expect_served(world, 5, "after a restart without the authority")
    world.mock.start()
    expect_new_token(world)


@adversity()
def unknown_keys(world):
    """Tokens with unknown keys cost the authority little and others nothing."""
    tokens = [world.mock.token(str(uuid.uuid4()), bad="unknown-kid") for _ in range(50)]
    for _ in range(10):
        for token in tokens:
            world.connected()
            status = ask(world.server.port, "GET", "/api/tasks", {"Authorization": f"Bearer {token}"}, source=STRANGER)[0]
            if status not in (401, 429, 503):
                raise Failed(f"a token with an unknown key was answered {status}")
    expect_served(world, 5, "while tokens with unknown keys arrive")


# -- of clients

def read_slowly(readers, seconds, world):
    """Takes a few kilobytes a second from each; returns how many answers began."""
    end, begun = time.monotonic() + seconds, set()
    while time.monotonic() < end and readers:
        for reader in select.select(readers, [], [], 0.05)[0]:
            try:
                piece = reader.recv(1024)
            except OSError:
                piece = b""
            if piece:
                begun.add(reader)
            else:
                readers.remove(reader)
                reader.close()
        world.stop.wait(0.2)
    return len(begun)


@adversity(503, settles=75)
def slow_readers_of_the_longest_list(world):
    """64 clients read slowly at once. The list changes in between, so that no two of them share its memory."""
    collector = world.collector
    token = world.mock.token(collector)
    readers = []
    try:
        for wave in range(8):
            authorization = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            world.connected()
            status = ask(world.server.port, "PATCH", "/api/tasks/1", authorization, f'{{"completed":{"true" if wave % 2 else "false"}}}')[0]
            if status not in (200, 503):
                raise Failed(f"PATCH while there are slow readers was answered {status}")
            for _ in range(8):
                reader = connect(world)
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                reader.sendall(head(token))
                readers.append(reader)
            read_slowly(readers, 0.5, world)
        world.count("slow answers that began", read_slowly(readers, 5, world))
        world.note("seconds for a good client with slow readers", expect_served(world, 10, "with 64 slow readers"))
        world.sample()
    finally:
        for reader in readers:
            reader.close()


@adversity(settles=10)
def clients_that_vanish(world):
    """1,200 clients leave after half a head. They hold no one up."""
    for _ in range(1200):
        with connect(world) as client:
            client.sendall(b"GET /api/tasks HTTP/1.1\r\nHost: half")
    world.note("seconds for a good client after vanished ones", expect_served(world, 5, "after 1,200 vanished clients"))


@adversity(NO_ANSWER, settles=20)
def connections_without_requests(world):
    """Holds more connections from one address than the server takes: a person's connection ends if it idles meanwhile."""
    held = []
    try:
        for _ in range(1100):
            held.append(connect(world))
        world.note("seconds for a good client with held connections", expect_served(world, 15, "with 1,100 held connections"))
    finally:
        for client in held:
            client.close()


@adversity(settles=75)
def slow_senders(world):
    """60 clients send heads and bodies byte by byte."""
    token = world.probe_token()
    senders = [connect(world) for _ in range(60)]
    for sender in senders[:30]:
        sender.sendall(head(token, "POST", fields="Content-Type: application/json\r\nContent-Length: 5000\r\n"))
    for byte in b"GET / HTTP/1.1\r\nHost: slow"[:20]:
        for sender in list(senders):
            try:
                sender.sendall(bytes([byte]))
            except OSError:
                senders.remove(sender)
        time.sleep(0.1)
    expect_served(world, 5, "with slow senders")
    for sender in senders:
        sender.close()


def garbage(noise):
    """Makes bytes that are no request, in several ways."""
    yield noise.randbytes(noise.randint(1, 2000))
    yield b"GET /\r\n\r\n"
    yield b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n"
    yield b"POST /api/tasks HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"
    yield b"POST /api/tasks HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * 20000 + b"\r\na\r\n0\r\n\r\n"
    yield b"GET /?" + b"a&" * 200 + b" HTTP/1.1\r\nHost: h\r\n\r\n"
    yield b"GET /" + b"a" * 30000 + b" HTTP/1.1\r\nHost: h\r\n\r\n"
    yield b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 3000 + b"\r\n"
    yield b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + noise.randbytes(500)
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + noise.randbytes(100)


@adversity()
def garbage_in_place_of_requests(world):
    """Answered or closed at once, never served, and no failure of the server's own."""
    noise = random.Random(world.seed + len(world.windows))
    for _ in range(20):
        for request in garbage(noise):
            with connect(world) as client:
                try:
                    client.sendall(request)
                    client.shutdown(socket.SHUT_WR)
                    answer = client.recv(100)
                except TimeoutError:
                    raise Failed(f"neither an answer nor an end within 10 s: {request[:60]}") from None
                except OSError:
                    continue
            status = answer[9:12]
            if answer and not (status.startswith(b"4") or status in (b"501", b"503", b"505")):
                raise Failed(f"answered {answer[:40]}: {request[:60]}")


@adversity()
def bodies_that_are_too_long(world):
    token = world.probe_token()
    for number in range(40):
        announced = b"Content-Length: 1000000\r\n" if number % 2 else b"Transfer-Encoding: chunked\r\n"
        with connect(world) as client:
            try:
                client.sendall(head(token, "POST", fields=announced.decode() + "Content-Type: application/json\r\n"))
                piece = b"x" * 16384 if number % 2 else b"4000\r\n" + b"x" * 16384 + b"\r\n"
                for _ in range(60):
                    client.sendall(piece)
            except OSError:
                pass
            try:
                status = client.recv(100)[9:12]
            except ConnectionError:
                continue
        if status != b"413":
            raise Failed(f"a body of 1 MB was answered {status}")


# -- of the disk and the database

@adversity(507, 503)
def full_disk_and_room_again(world):
    """What finds no room is refused, reads go on, and afterwards everything is as before."""
    token = world.probe_token()
    authorization = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body, ids = '{"task":"' + "x" * 4000 + '"}', []

    def add():
        world.connected()
        status, fields, _ = ask(world.server.port, "POST", "/api/tasks", authorization, body)
        if status == 201:
            ids.append(fields["Location"])
        return status
    flag = pathlib.Path(f"{world.disk}.full")
    flag.touch()
    try:
        end = time.monotonic() + 60
        while (status := add()) == 201 and time.monotonic() < end:
            pass
        if status not in (507, 503):
            raise Failed(f"on a full disk POST was answered {status}")
        end = time.monotonic() + 2
        while time.monotonic() < end:
            expect_served(world, 10, "on a full disk")
    finally:
        flag.unlink()
    wait_until("a POST finds room again", 15, lambda: add() == 201, 0.2)
    for place in ids:
        world.connected()
        status = ask(world.server.port, "DELETE", place, authorization)[0]
        if status != 204:
            raise Failed(f"DELETE after a full disk was answered {status}")


@adversity(503, 507, only="postgresql")
def database_killed_and_started(world):
    world.database.kill9()
    wait_until("/readyz says that the database is away", 20, lambda: not world.server.is_ready())
    world.database.start()
    wait_until("/readyz says that the database is back", 60, world.server.is_ready, 0.2)


@adversity(503, only="postgresql")
def sessions_of_the_database_ended(world):
    for _ in range(5):
        world.database.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                           "WHERE datname = 'tasks' AND pid <> pg_backend_pid()")
        time.sleep(0.3)
