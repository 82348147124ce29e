"""Clients that add and read tasks without a pause, and notice each request that is refused, lost or answered twice."""
import collections
import json
import selectors
import socket
import threading
import time


class Client:
    """One client: adds a task, reads it, reads a page of its list, and so on. It never repeats a request."""

    def __init__(self, load, number, token):
        self.load, self.number, self.count, self.received, self.wanted = load, number, 0, b"", b""
        # A third of the clients makes a connection for each request.
        self.is_kept = number % 3 != 0
        self.head = f"Host: x\r\nAuthorization: Bearer {token}\r\n" + ("" if self.is_kept else "Connection: close\r\n")
        self.socket = None

    def connect(self):
        try:
            self.socket = socket.create_connection(("127.0.0.1", self.load.port), timeout=60)
        except ConnectionRefusedError:
            self.load.faults["refused"] += 1
            return False
        self.socket.setblocking(False)
        self.load.selector.register(self.socket, selectors.EVENT_READ, self)
        return True

    def disconnect(self):
        self.load.selector.unregister(self.socket)
        self.socket.close()
        self.socket = None

    def is_closed(self):
        """Whether the server has closed the connection, which has no request under way. Clients look before they send."""
        try:
            return self.socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except ConnectionError:
            return True

    def send(self):
        if self.socket is not None and self.is_closed():
            self.disconnect()
        if self.socket is None and not self.connect():
            return
        turn, self.count, self.received = self.count % 3, self.count + 1, b""
        if turn == 0:
            self.text = f"{self.number}-{self.count}"
            body = json.dumps({"task": self.text})
            key = f"Idempotency-Key: {self.text}\r\n" if self.number % 2 else ""
            request = (f"POST /api/tasks HTTP/1.1\r\n{self.head}{key}Content-Type: application/json\r\n"
                       f"Content-Length: {len(body)}\r\n\r\n{body}")
        else:
            request = f"GET /api/tasks{f'/{self.identifier}' if turn == 1 else '?limit=2'} HTTP/1.1\r\n{self.head}\r\n"
        self.wanted = b"201" if turn == 0 else b"200"
        self.load.under_way += 1
        try:
            self.socket.sendall(request.encode())
        except ConnectionError:
            self.end("lost while it was sent")

    def receive(self):
        try:
            piece = self.socket.recv(65536)
        except ConnectionError:
            piece = b""
        if not self.wanted:
            # Between two requests the server may only close.
            if piece:
                self.load.faults["answered twice"] += 1
            return self.disconnect()
        self.received += piece
        head, end, body = self.received.partition(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0) if end else 0
        if end and len(body) >= size:
            self.finish(head, body, size)
        elif not piece:
            self.end("lost" if not self.received else "cut")

    def finish(self, head, body, size):
        if head[9:12] != self.wanted:
            return self.end(f"answered with {head[9:12].decode()}")
        if len(body) > size:
            return self.end("answered twice")
        if self.wanted == b"201":
            self.identifier = json.loads(body)["Id"]
            self.load.added[self.text] += 1
        self.load.answered += 1
        self.load.under_way -= 1
        self.wanted = b""
        if b"connection: close" in head.lower():
            self.load.last_answers += self.is_kept
            self.disconnect()

    def end(self, fault):
        self.load.faults[fault] += 1
        self.load.under_way -= 1
        self.wanted = b""
        self.disconnect()


class Load(threading.Thread):
    """All clients, on one thread. Each has one request under way, and sends the next when it has the answer."""

    def __init__(self, port, tokens):
        super().__init__(daemon=True)
        self.port, self.selector, self.stops = port, selectors.DefaultSelector(), False
        self.answered = self.under_way = self.last_answers = 0
        self.added, self.faults = collections.Counter(), collections.Counter()
        self.longest, self.clients = 0, [Client(self, number, token) for number, token in enumerate(tokens)]

    def run(self):
        try:
            self.exchange()
        finally:
            self.selector.close()
            for client in self.clients:
                if client.socket is not None:
                    client.socket.close()

    def exchange(self):
        for client in self.clients:
            client.send()
        last = time.monotonic()
        # One fault is enough: a client that got no answer has nothing to go on with.
        while not self.faults and (not self.stops or self.under_way):
            ready = self.selector.select(1)
            now = time.monotonic()
            if ready:
                self.longest = max(self.longest, now - last)
                last = now
            elif now - last > 60:
                self.faults["unanswered"] += self.under_way
                return
            for key, _ in ready:
                client = key.data
                client.receive()
                if not client.wanted and not self.stops and not self.faults:
                    client.send()
