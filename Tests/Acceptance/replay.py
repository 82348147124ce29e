"""Sample clients replayed: their requests written out byte for byte, and people in their web views.

The libraries do not run here. What stands in the tests is what their sources write, header fields in one of the orders that
a dictionary may have; nothing between a test and the socket tidies it. The authority serves https under the name that the
libraries insist on, login.microsoftonline.com, on a port that the tests choose in place of 443.
"""

import functools
import gzip
import html
import http.client
import json
import re
import socket
import ssl
import unittest
import urllib.parse

from servers import PASSWORD, TENANT, Servers, free_port

ERAS = ["preview2015", "classic", "current"]
HOST = "login.microsoftonline.com"
OOB = "urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"
ALICE = "alice@example.com"


class EraServers(Servers):
    """Both programs, the authority of one era, by http and by https."""

    def __init__(self, era):
        self.era = era
        self.secure_port = free_port()
        super().__init__()
        self.trust = ssl.create_default_context(cafile=self.folder / "state/ca.pem")

    def authority_settings(self):
        return {
            **super().authority_settings(), "MOCK_ERA": self.era, "MOCK_STATE": str(self.folder / "state"),
            "MOCK_TLS_LISTEN": f"127.0.0.1:{self.secure_port}", "MOCK_TLS_NAME": HOST,
        }


@functools.cache
def era_servers(era):
    return EraServers(era)


class Answer:
    def __init__(self, connection):
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        self.status = answer.status
        self.headers = answer.headers
        body = answer.read()
        # As the libraries do, which ask for it by themselves.
        self.body = (gzip.decompress(body) if answer.headers["Content-Encoding"] == "gzip" else body).decode()

    @property
    def json(self):
        return json.loads(self.body)


def request(head, body=""):
    """The bytes of a request: a field a line, `{length}` is the length of the body."""
    lines = [line.strip() for line in head.strip().splitlines()]
    text = "\r\n".join(lines).replace("{length}", str(len(body.encode())))
    return f"{text}\r\n\r\n{body}".encode()


class ReplayTest(unittest.TestCase):
    newcomers = 0

    def in_each_era(self, play):
        for era in ERAS:
            with self.subTest(era=era):
                self.servers = era_servers(era)
                self.servers.remove_tasks(ALICE)
                play()

    def newcomer(self):
        """An address of somebody new, as people type them."""
        ReplayTest.newcomers += 1
        return f"New.Comer{ReplayTest.newcomers}@Example.com"

    def authority(self, head, body=""):
        """To port 443 of login.microsoftonline.com, which is where the library would connect."""
        with socket.create_connection(("127.0.0.1", self.servers.secure_port), timeout=10) as plain, \
                self.servers.trust.wrap_socket(plain, server_hostname=HOST) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(request(head, body))
            return Answer(connection)

    def plain_authority(self, head, body=""):
        return self._plain(self.servers.ports[1], head, body)

    def tasks(self, head, body="", port=None):
        return self._plain(port or self.servers.ports[0], head, body)

    @staticmethod
    def _plain(port, head, body):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(request(head, body))
            return Answer(connection)

    def in_web_view(self, target, person, send=None, host=HOST):
        """Opens a target and fills in the forms that come; answers the response that leads back to the client."""
        send = send or self.authority
        browser = f"""
            Host: {host}
            Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
            User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 9_0 like Mac OS X) AppleWebKit/601.1.46 Mobile/13A340
            Accept-Language: en-us
            Accept-Encoding: identity
            Connection: keep-alive"""
        cookies = {}
        answer = send(f"GET {target} HTTP/1.1{browser}")
        for _ in range(3):
            if answer.status != 200 or "<form id=\"localAccountForm\"" not in answer.body:
                return answer
            cookies.update(cookie.split(";")[0].split("=", 1) for cookie in answer.headers.get_all("Set-Cookie") or [])
            form = self._filled(answer.body, person)
            action = html.unescape(re.search('method="post" action="([^"]+)"', answer.body)[1])
            kept = "; ".join(f"{name}={value}" for name, value in cookies.items())
            answer = send(
                f"""POST {action} HTTP/1.1{browser}
                Cookie: {kept}
                Content-Type: application/x-www-form-urlencoded
                Content-Length: {{length}}""", form)
        return answer

    @staticmethod
    def _filled(page, person):
        """The body of the form on a page: its hidden fields, and what the person types."""
        known = {
            "signInName": person, "password": PASSWORD, "email": person, "newPassword": PASSWORD,
            "reenterPassword": PASSWORD, "displayName": "Nora Newcomer", "givenName": "Nora", "surname": "Newcomer"}
        fields = {}
        for field in re.findall("<input [^>]+>", page):
            name = re.search(' name="([^"]+)"', field)[1]
            value = re.search(' value="([^"]*)"', field)
            fields[name] = html.unescape(value[1]) if 'type="hidden"' in field else known[name]
        return urllib.parse.urlencode({**fields, "action": "continue"})


def quoted(text):
    return urllib.parse.quote(text, safe="")


__all__ = [
    "ALICE", "ERAS", "HOST", "OOB", "PASSWORD", "TENANT", "Answer", "ReplayTest", "era_servers", "quoted", "request"]
