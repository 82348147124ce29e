"""Speaks TLS before a PostgreSQL server without it, in records as large as TLS allows.

Those of PostgreSQL 15 hold 8 kB at most. What the server says is held until there are 16 kB, or until it
pauses, and goes out as one record.

usage: large-records.py SERVER-PORT CERTIFICATE KEY     prints the port where it listens; ends with the process that started it
"""
import os
import select
import socket
import ssl
import sys
import threading

LARGEST = 16384
PAUSE = 0.01


def carry(client, context, port):
    request = client.recv(8, socket.MSG_WAITALL)
    assert request[4:] == b"\x04\xd2\x16\x2f", "no SSLRequest"
    client.sendall(b"S")
    with context.wrap_socket(client, server_side=True) as client, socket.create_connection(("127.0.0.1", port)) as server:
        held = b""
        while True:
            ready = [client] if client.pending() else select.select([client, server], [], [], PAUSE if held else None)[0]
            if client in ready:
                if not (said := client.recv(LARGEST)):
                    return
                server.sendall(said)
            if server in ready:
                if not (said := server.recv(LARGEST - len(held))):
                    return client.sendall(held)
                held += said
            if len(held) == LARGEST or held and not ready:
                client.sendall(held)
                held = b""


def carry_and_close(client, *others):
    with client:
        try:
            carry(client, *others)
        except OSError:
            pass  # A side that goes without a word is nothing to tell.


def main(server_port, certificate, key):
    parent = os.getppid()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        listener.settimeout(0.5)
        while os.getppid() == parent:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            threading.Thread(target=carry_and_close, args=(client, context, int(server_port)), daemon=True).start()


main(*sys.argv[1:])
