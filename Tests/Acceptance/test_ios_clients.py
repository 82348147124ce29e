"""The two iOS samples and their libraries, byte for byte as they write: sign in, renew, list tasks, add one.

Neither library runs here; the requests are what their sources make of the samples' settings. Nothing between the test
and the socket may tidy them, so they are written out.
"""

import base64
import html
import http.client
import json
import re
import socket
import unittest
import urllib.parse

from person import PASSWORD
from servers import CLIENT, TENANT, Servers

USER = "alice@example.com"
OOB = "urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"
POLICY = "b2c_1_sign_in"


class EraServers(Servers):
    """The authority in the years of a client."""

    def __init__(self, era):
        self.era = era
        super().__init__()

    def authority_settings(self):
        return {**super().authority_settings(), "MOCK_ERA": self.era}


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


class Answer:
    def __init__(self, connection):
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        self.status = answer.status
        self.headers = answer.headers
        self.body = answer.read().decode()
        self.json = json.loads(self.body) if "json" in answer.headers.get("Content-Type", "") else None


class ReplayTest(unittest.TestCase):
    def play(self, era):
        self.servers = EraServers(era)
        self.addCleanup(self.servers.stop)

    def send(self, url, head, body=""):
        """One request to the server of a URL: its lines as given, Host and Content-Length as both libraries do."""
        host = urllib.parse.urlsplit(url).netloc
        lines = [head[0], f"Host: {host}", *head[1:]]
        if body:
            lines.append(f"Content-Length: {len(body.encode())}")
        with socket.create_connection((host.split(":")[0], int(host.split(":")[1])), timeout=10) as connection:
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
            return Answer(connection)

    def authority(self, head, body=""):
        return self.send(self.servers.authority, head, body)

    def tasks(self, head, body=""):
        return self.send(self.servers.page, head, body)

    def sign_in(self, target):
        """The web view: the page that a target shows, and a person who fills it in; answers where it leads."""
        page = self.authority([f"GET {target} HTTP/1.1", "Accept: text/html"])
        self.assertEqual(page.status, 200, page.body)
        action = html.unescape(re.search('method="post" action="([^"]+)"', page.body)[1])
        csrf = html.unescape(re.search('name="csrf" value="([^"]+)"', page.body)[1])
        form = urllib.parse.urlencode(
            {"csrf": csrf, "form": "sign-in", "signInName": USER, "password": PASSWORD, "action": "continue"})
        cookies = "; ".join(cookie.split(";")[0] for cookie in page.headers.get_all("Set-Cookie"))
        answer = self.authority([
            f"POST {action} HTTP/1.1", "Content-Type: application/x-www-form-urlencoded", f"Cookie: {cookies}"], form)
        self.assertEqual(answer.status, 302, answer.body)
        return answer.headers["Location"]


class NXOAuth2(ReplayTest):
    def code(self, location):
        """As the library reads it: only from the query, of pairs with exactly one `=`, and `+` stays a plus."""
        self.assertTrue(location.lower().startswith("urn:ietf:wg:oauth:2.0:oob"), location)
        pairs = [pair.split("=") for pair in location.split("?", 1)[1].split("&")]
        return dict(pair for pair in pairs if len(pair) == 2)["code"]

    def sign_in_for(self, scope):
        location = self.sign_in(
            f"/{TENANT}/oauth2/v2.0/authorize?p={POLICY}&response_type=code&client_id={CLIENT}&redirect_uri={OOB}"
            f"&scope={scope}")
        # The library makes the body of everything after the question mark of its token URL too, so `p` comes again.
        answer = self.authority([
            f"POST /{TENANT}/oauth2/v2.0/token?p={POLICY} HTTP/1.1", "Accept: application/json",
            "Content-Type: application/x-www-form-urlencoded"],
            f"p={POLICY}&grant_type=authorization_code&client_id={CLIENT}&client_secret=&redirect_uri={OOB}"
            f"&code={urllib.parse.quote(self.code(location), safe='')}&scope={scope}")
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def check_tasks(self, reply):
        self.assertEqual(reply["token_type"].lower(), "bearer")
        self.assertIsInstance(reply.get("scope", ""), str)
        int(reply["expires_in"])
        bearer = ["Accept: application/json", f"Authorization: Bearer {reply['access_token']}"]
        vendored = self.tasks(
            ["POST /api/tasks HTTP/1.1", *bearer, "Content-Type: application/x-www-form-urlencoded"], "Text=Buy%20milk")
        self.assertEqual(vendored.status, 201, vendored.body)
        boundary = "------------nx-oauth216807"
        stock = (f'--{boundary}\r\nContent-Disposition: form-data; name="Text"\r\n\r\nBuy milk\r\n'
                 f"--{boundary}--\r\n")
        self.assertEqual(len(stock), 119)
        added = self.tasks(
            ["POST /api/tasks HTTP/1.1", *bearer, f"Content-Type: multipart/form-data; boundary={boundary}"], stock)
        self.assertEqual(added.status, 201, added.body)
        listed = self.tasks(["GET /api/tasks HTTP/1.1", *bearer])
        self.assertEqual([task["Text"] for task in listed.json], ["Buy milk", "Buy milk"])

    def test_the_sample_in_each_era(self):
        for era in ["preview2015", "classic", "current"]:
            with self.subTest(era):
                self.play(era)
                reply = self.sign_in_for(f"openid%20{CLIENT}")
                self.assertNotIn("refresh_token", reply)
                self.check_tasks(reply)

    def test_a_multipart_refresh(self):
        self.play("classic")
        reply = self.sign_in_for(f"openid%20offline_access%20{CLIENT}")
        boundary = "------------nx-oauth2282475249"
        fields = {
            "p": POLICY, "grant_type": "refresh_token", "client_id": CLIENT, "client_secret": "",
            "refresh_token": reply["refresh_token"]}
        body = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()) + f"--{boundary}--\r\n"
        renewed = self.authority([
            f"POST /{TENANT}/oauth2/v2.0/token?p={POLICY} HTTP/1.1",
            f"Content-Type: multipart/form-data; boundary={boundary}"], body)
        self.assertEqual(renewed.status, 200, renewed.body)
        self.check_tasks(renewed.json)


class ADAL(ReplayTest):
    HEAD = [
        "Accept: application/json", "Content-Type: application/x-www-form-urlencoded", "x-ms-PkeyAuth: 1.0",
        "client-request-id: 6D6A1A5B-8C2E-4B0F-9E8B-1B1B1B1B1B1B", "return-client-request-id: true",
        "x-client-SKU: iOS", "x-client-Ver: 2.1.0", "x-client-OS: 9.0", "x-client-DM: iPhone", "x-client-CPU: 64"]
    MARKS = "x-client-Ver=2.1.0&x-client-SKU=iOS&x-client-OS=9.0&x-client-DM=iPhone&x-client-CPU=64"

    def code(self, location):
        """As the library reads it: a prefix of the redirect URI, the fragment before the query, and the state back."""
        self.assertTrue(location.startswith("urn:ietf:wg:oauth:2.0:oob"), location)
        self.assertNotIn("#", location)
        answer = dict(urllib.parse.parse_qsl(location.split("?", 1)[1]))
        self.assertEqual(answer["state"], "YXV0aG9yaXR5PWE=")
        return answer["code"]

    def token(self, body):
        answer = self.authority(
            [f"POST /{TENANT}/oauth2/v2.0/token?p={POLICY}&{self.MARKS} HTTP/1.1", *self.HEAD], body)
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.headers["client-request-id"], "6D6A1A5B-8C2E-4B0F-9E8B-1B1B1B1B1B1B")
        return answer.json

    def begin(self, query):
        location = self.sign_in(
            f"/{TENANT}/oauth2/v2.0/authorize?{query}&client_id={CLIENT}&redirect_uri={OOB}&state=YXV0aG9yaXR5PWE%3D"
            f"&{self.MARKS}&login_hint=alice%40example.com&prompt=login")
        return (f"grant_type=authorization_code&code={urllib.parse.quote(self.code(location), safe='')}"
                f"&client_id={CLIENT}&redirect_uri={OOB}")

    def refresh(self, reply, scope):
        """The renewal, which names scope and policy in its body."""
        return self.token(
            f"grant_type=refresh_token&refresh_token={urllib.parse.quote(reply['refresh_token'], safe='')}"
            f"&client_id={CLIENT}&scope={scope}&p={POLICY}")

    def check_tasks(self, bearer, path="/tasks"):
        authorization = f"Authorization: Bearer {bearer}"
        added = self.tasks(
            [f"POST {path} HTTP/1.1", authorization, "Content-Type: application/json"], '{"task":"Buy milk"}')
        self.assertEqual(added.status, 201, added.body)
        listed = self.tasks([f"GET {path} HTTP/1.1", authorization, "Accept: */*"])
        self.assertEqual(listed.json[-1]["task"], "Buy milk")
        removed = self.tasks(
            [f"DELETE {path} HTTP/1.1", authorization, "Content-Type: application/json"], '{"task":"Buy milk"}')
        self.assertEqual(removed.status, 204, removed.body)
        self.assertEqual(self.tasks([f"GET {path} HTTP/1.1", authorization]).json, [])

    def test_september_2015(self):
        self.play("preview2015")
        reply = self.token(self.begin(f"p={POLICY}&response_type=code&scope=openid+offline_access"))
        self.assertEqual(claims(reply["id_token"])["oid"], "a11ce000-0000-4000-8000-000000000001")
        self.check_tasks(reply["id_token"])
        self.check_tasks(self.refresh(reply, "openid+offline_access")["id_token"])

    def test_february_2016(self):
        self.play("preview2015")
        reply = self.token(self.begin(f"p={POLICY}&response_type=code&response_mode=query&scope={CLIENT}"))
        person = json.loads(base64.urlsafe_b64decode(reply["profile_info"] + "=" * (-len(reply["profile_info"]) % 4)))
        self.assertEqual(person["preferred_username"], USER)
        self.check_tasks(reply["id_token"])

    def test_may_2016(self):
        for era in ["classic", "current"]:
            with self.subTest(era):
                self.play(era)
                scope = "openid+offline_access+profile"
                reply = self.token(
                    self.begin(f"p={POLICY}&response_type=code&response_mode=query&scope={scope}") + f"&scope={scope}")
                self.assertNotIn("access_token", reply)
                int(reply["id_token_expires_in"])
                self.check_tasks(reply["id_token"])
                renewed = self.refresh(reply, scope)
                self.check_tasks(renewed.get("access_token") or renewed["id_token"], "/api/tasks")


if __name__ == "__main__":
    unittest.main()
