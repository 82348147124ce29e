"""Sends requests over TLS and looks at every byte of the answer's TCP stream before it is decrypted.

usage: tls-exchange.py PORT VERSION < requests     VERSION is 1.2 or 1.3; a request is one line of JSON, a list of the
texts that are written one by one. Each answer is one line of JSON: "text" that was decrypted, "ending" of the stream
("close_notify", "cut" or "open" after 10 s), "stray" if something stood in the stream that is no TLS record.
"""
import concurrent.futures
import json
import socket
import ssl
import sys
import time

PAUSE = 0.05  # between two writes, so that the server can have read the first
PATIENCE = 10


class Records:
    """Cuts a stream into TLS records (RFC 8446 section 5.1), and remembers whether all of it is one."""

    def __init__(self):
        self.rest = b""
        self.stray = None

    def take(self, data):
        self.rest += data
        while self.stray is None and len(self.rest) >= 5:
            kind, version = self.rest[0], self.rest[1:3]
            size = int.from_bytes(self.rest[3:5], "big")
            if kind not in (20, 21, 22, 23) or version != b"\x03\x03" or size > 16384 + 256:
                self.stray = self.rest[:40].decode("latin-1")
            elif len(self.rest) < 5 + size:
                return
            self.rest = self.rest[5 + size:]

    def finish(self):
        if self.stray is None and self.rest:
            self.stray = "half a record: " + self.rest[:40].decode("latin-1")


def exchange(port, version, pieces):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session, records = context.wrap_bio(incoming, outgoing, server_hostname="localhost"), Records()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as stream:

        def flush():
            try:
                stream.sendall(outgoing.read())
            except OSError:
                pass  # the server has closed; what it said before is still to be read

        def more():
            try:
                data = stream.recv(65536)
            except TimeoutError:
                return "open"
            except OSError:
                return "cut"
            records.take(data)
            incoming.write(data)
            return None if data else "cut"

        def until_done(step):
            while True:
                try:
                    result = step()
                    flush()
                    return result, None
                except ssl.SSLWantReadError:
                    flush()
                    if ending := more():
                        return b"", ending
                except ssl.SSLZeroReturnError:
                    return b"", "close_notify"
                except ssl.SSLError as error:
                    return b"", "broken: " + str(error)

        _, ending = until_done(session.do_handshake)
        for piece in pieces if ending is None else []:
            session.write(piece.encode())
            flush()
            time.sleep(PAUSE)
        text = b""
        while ending is None:
            data, ending = until_done(lambda: session.read(65536))
            text += data
            if not data and ending is None:
                ending = "close_notify"
        if ending == "close_notify":
            while more() is None:
                pass
    records.finish()
    return {"text": text.decode("latin-1"), "ending": ending, "stray": records.stray}


versions = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
port, version = int(sys.argv[1]), versions[sys.argv[2]]
# Most of their time is pauses.
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    for answer in pool.map(lambda line: exchange(port, version, json.loads(line)), sys.stdin):
        print(json.dumps(answer), flush=True)
